// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * usage: d3d11-scenes.exe FOLDER [SCENE ...]
 *
 * Draws scenes with Direct3D 11, each into a texture of 256x256 without a window, and writes them
 * to FOLDER/SCENE.ppm. All of them if none is named. Built by MinGW's compiler, it runs
 * in Wine with DXVK. Shaders are compiled when the program runs. Ends with 1 if something
 * fails, after a message that names it.
 */
#define COBJMACROS
#define INITGUID
#include <windows.h>
#include <d3d11.h>
#include <d3dcompiler.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE		256
#define FORMAT		DXGI_FORMAT_R8G8B8A8_UNORM

static struct {
	ID3D11Device *device;
	ID3D11DeviceContext *context;
} d3d;

static void check(HRESULT result, const char *step)
{
	if (SUCCEEDED(result))
		return;
	fprintf(stderr, "d3d11-scenes: %s: 0x%08lx\n", step, (unsigned long)result);
	exit(1);
}

/* Shaders */

/* Positions and colours come from the vertex's number, so that no scene needs a buffer for them. */
static const char shaders[] =
	"struct V { float4 at : SV_Position; float4 colour : COLOR; float2 uv : TEXCOORD; };\n"
	"cbuffer C : register(b0) { float4 place; float4 tint; };\n"
	"V vs_triangle(uint i : SV_VertexID) {\n"
	"	V v;\n"
	"	float2 p = i == 0 ? float2(-0.8, -0.7) : i == 1 ? float2(0.8, -0.6) : float2(0.1, 0.85);\n"
	"	v.at = float4(p, 0.5, 1);\n"
	"	v.colour = float4(i == 0, i == 1, i == 2, 1);\n"
	"	v.uv = p;\n"
	"	return v;\n"
	"}\n"
	"V vs_quad(uint i : SV_VertexID) {\n"
	"	V v;\n"
	"	v.uv = float2(i & 1, i >> 1);\n"
	"	v.at = float4(place.xy + (v.uv * 2 - 1) * place.z, place.w, 1);\n"
	"	v.colour = tint;\n"
	"	return v;\n"
	"}\n"
	"V vs_instances(uint i : SV_VertexID, uint n : SV_InstanceID) {\n"
	"	V v;\n"
	"	float angle = 0.4 * n;\n"
	"	float2 p = float2(i & 1, i >> 1) * 0.16 - 0.08;\n"
	"	float2 turned = float2(p.x * cos(angle) - p.y * sin(angle), p.x * sin(angle) + p.y * cos(angle));\n"
	"	v.at = float4(turned + float2(n % 8, n / 8) * 0.23 - 0.8, 0.5, 1);\n"
	"	v.colour = float4((n % 8) / 7.0, (n / 8) / 7.0, 0.5, 1);\n"
	"	v.uv = p;\n"
	"	return v;\n"
	"}\n"
	/* a floor that goes into the distance */
	"V vs_floor(uint i : SV_VertexID) {\n"
	"	V v;\n"
	"	float2 p = float2(i & 1, i >> 1);\n"
	"	float far = p.y * 20 + 1;\n"
	"	v.at = float4((p.x * 2 - 1) * 4, -1.1 + 0.04 * far, 0.5 * far, far);\n"
	"	v.colour = 1;\n"
	"	v.uv = p * float2(4, 24);\n"
	"	return v;\n"
	"}\n"
	"float4 ps_colour(V v) : SV_Target { return v.colour; }\n"
	"Texture2D image : register(t0);\n"
	"SamplerState filter : register(s0);\n"
	"float4 ps_texture(V v) : SV_Target { return image.Sample(filter, v.uv) * v.colour; }\n"
	"float4 ps_round(V v) : SV_Target {\n"
	"	float2 p = v.uv * 2 - 1;\n"
	"	if (dot(p, p) > 1)\n"
	"		discard;\n"
	"	return float4(v.colour.rgb * (1 - 0.5 * dot(p, p)), v.colour.a);\n"
	"}\n"
	"struct T { float4 a : SV_Target0; float4 b : SV_Target1; };\n"
	"T ps_two(V v) { T t; t.a = v.colour; t.b = float4(1 - v.colour.rgb, 1); return t; }\n"
	"float4 ps_loop(V v) : SV_Target {\n"
	"	float2 c = v.uv * float2(3, 2.4) - float2(2.2, 1.2), z = 0;\n"
	"	uint n = 0;\n"
	"	for (; n < 48 && dot(z, z) < 4; n++)\n"
	"		z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;\n"
	"	return float4(n / 48.0, frac(n / 7.0), frac(n / 3.0), 1);\n"
	"}\n";

/* Wine's compiler knows no barriers. */
static const char compute_shader[] =
	"RWTexture2D<float4> target : register(u0);\n"
	"[numthreads(8, 8, 1)]\n"
	"void cs_main(uint3 at : SV_DispatchThreadID, uint3 group : SV_GroupID, uint n : SV_GroupIndex) {\n"
	"	uint sum = 0;\n"
	"	for (uint i = 0; i <= at.x % 32; i++)\n"
	"		sum = (sum * 5 + at.y + i) % 251;\n"
	"	target[at.xy] = float4(sum / 255.0, group.x / 32.0, n / 64.0, 1);\n"
	"}\n";

static ID3DBlob *compile(const char *text, const char *entry, const char *profile)
{
	ID3DBlob *code = NULL, *errors = NULL;
	HRESULT result = D3DCompile(text, strlen(text), NULL, NULL, NULL, entry, profile, 0, 0,
				    &code, &errors);

	if (FAILED(result) && errors)
		fprintf(stderr, "%s\n", (const char *)ID3D10Blob_GetBufferPointer(errors));
	check(result, entry);
	return code;
}

static void use_vertex_shader(const char *entry)
{
	ID3DBlob *code = compile(shaders, entry, "vs_5_0");
	ID3D11VertexShader *shader;

	check(ID3D11Device_CreateVertexShader(d3d.device, ID3D10Blob_GetBufferPointer(code),
					      ID3D10Blob_GetBufferSize(code), NULL, &shader), entry);
	ID3D11DeviceContext_VSSetShader(d3d.context, shader, NULL, 0);
}

static void use_pixel_shader(const char *entry)
{
	ID3DBlob *code = compile(shaders, entry, "ps_5_0");
	ID3D11PixelShader *shader;

	check(ID3D11Device_CreatePixelShader(d3d.device, ID3D10Blob_GetBufferPointer(code),
					     ID3D10Blob_GetBufferSize(code), NULL, &shader), entry);
	ID3D11DeviceContext_PSSetShader(d3d.context, shader, NULL, 0);
}

/* Resources. Nothing is released: the process ends soon. */

static ID3D11Texture2D *make_texture(DXGI_FORMAT format, UINT bind, UINT samples)
{
	const D3D11_TEXTURE2D_DESC desc = {
		.Width = SIZE, .Height = SIZE, .MipLevels = 1, .ArraySize = 1,
		.Format = format, .SampleDesc = { .Count = samples }, .BindFlags = bind,
		.Usage = bind ? D3D11_USAGE_DEFAULT : D3D11_USAGE_STAGING,
		.CPUAccessFlags = bind ? 0 : D3D11_CPU_ACCESS_READ,
	};
	ID3D11Texture2D *texture;

	check(ID3D11Device_CreateTexture2D(d3d.device, &desc, NULL, &texture), "texture");
	return texture;
}

static ID3D11RenderTargetView *target_of(ID3D11Texture2D *texture)
{
	ID3D11RenderTargetView *view;

	check(ID3D11Device_CreateRenderTargetView(d3d.device, (ID3D11Resource *)texture, NULL, &view),
	      "render target");
	return view;
}

static ID3D11DepthStencilView *depth_of(ID3D11Texture2D *texture)
{
	ID3D11DepthStencilView *view;

	check(ID3D11Device_CreateDepthStencilView(d3d.device, (ID3D11Resource *)texture, NULL, &view),
	      "depth target");
	return view;
}

static void clear(ID3D11RenderTargetView *target)
{
	static const float colour[] = { 0.1f, 0.2f, 0.3f, 1 };

	ID3D11DeviceContext_ClearRenderTargetView(d3d.context, target, colour);
}

/* Has the next draws of vs_quad have a place, half a side and a depth, and a colour. */
static void use_constants(float x, float y, float half, float depth, float r, float g, float b,
			  float a)
{
	const float values[8] = { x, y, half, depth, r, g, b, a };
	const D3D11_BUFFER_DESC desc = {
		.ByteWidth = sizeof(values), .Usage = D3D11_USAGE_IMMUTABLE,
		.BindFlags = D3D11_BIND_CONSTANT_BUFFER,
	};
	const D3D11_SUBRESOURCE_DATA data = { .pSysMem = values };
	ID3D11Buffer *buffer;

	check(ID3D11Device_CreateBuffer(d3d.device, &desc, &data, &buffer), "constants");
	ID3D11DeviceContext_VSSetConstantBuffers(d3d.context, 0, 1, &buffer);
}

static void draw_quads(UINT instances)
{
	ID3D11DeviceContext_IASetPrimitiveTopology(d3d.context,
						   D3D11_PRIMITIVE_TOPOLOGY_TRIANGLESTRIP);
	ID3D11DeviceContext_DrawInstanced(d3d.context, 4, instances, 0, 0);
}

static void draw_triangle(void)
{
	ID3D11DeviceContext_IASetPrimitiveTopology(d3d.context,
						   D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
	ID3D11DeviceContext_Draw(d3d.context, 3, 0);
}

/* Has the next draws use a pattern with all its levels, and a filter. */
static void use_texture(D3D11_FILTER filter)
{
	static uint8_t pixels[64][64][4];
	const D3D11_TEXTURE2D_DESC desc = {
		.Width = 64, .Height = 64, .MipLevels = 0, .ArraySize = 1, .Format = FORMAT,
		.SampleDesc = { .Count = 1 }, .MiscFlags = D3D11_RESOURCE_MISC_GENERATE_MIPS,
		.BindFlags = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_RENDER_TARGET,
	};
	const D3D11_SAMPLER_DESC sampler_desc = {
		.Filter = filter, .AddressU = D3D11_TEXTURE_ADDRESS_WRAP,
		.AddressV = D3D11_TEXTURE_ADDRESS_WRAP, .AddressW = D3D11_TEXTURE_ADDRESS_WRAP,
		.MaxAnisotropy = 4, .ComparisonFunc = D3D11_COMPARISON_NEVER,
		.MaxLOD = D3D11_FLOAT32_MAX,
	};
	ID3D11ShaderResourceView *view;
	ID3D11SamplerState *sampler;
	ID3D11Texture2D *texture;
	unsigned int x, y;

	for (y = 0; y < 64; y++) {
		for (x = 0; x < 64; x++) {
			bool odd = (x / 8 ^ y / 8) & 1;

			pixels[y][x][0] = odd ? 255 : 4 * x;
			pixels[y][x][1] = odd ? 4 * y : 64;
			pixels[y][x][2] = 128;
			pixels[y][x][3] = 255;
		}
	}
	check(ID3D11Device_CreateTexture2D(d3d.device, &desc, NULL, &texture), "pattern");
	ID3D11DeviceContext_UpdateSubresource(d3d.context, (ID3D11Resource *)texture, 0, NULL, pixels,
					      sizeof(pixels[0]), 0);
	check(ID3D11Device_CreateShaderResourceView(d3d.device, (ID3D11Resource *)texture, NULL, &view),
	      "view of the pattern");
	ID3D11DeviceContext_GenerateMips(d3d.context, view);
	check(ID3D11Device_CreateSamplerState(d3d.device, &sampler_desc, &sampler), "sampler");
	ID3D11DeviceContext_PSSetShaderResources(d3d.context, 0, 1, &view);
	ID3D11DeviceContext_PSSetSamplers(d3d.context, 0, 1, &sampler);
}

static void use_blending(void)
{
	const D3D11_BLEND_DESC desc = {
		.RenderTarget = { {
			.BlendEnable = TRUE,
			.SrcBlend = D3D11_BLEND_SRC_ALPHA, .DestBlend = D3D11_BLEND_INV_SRC_ALPHA,
			.BlendOp = D3D11_BLEND_OP_ADD,
			.SrcBlendAlpha = D3D11_BLEND_ONE, .DestBlendAlpha = D3D11_BLEND_ONE,
			.BlendOpAlpha = D3D11_BLEND_OP_MAX,
			.RenderTargetWriteMask = D3D11_COLOR_WRITE_ENABLE_ALL,
		} },
	};
	ID3D11BlendState *state;

	check(ID3D11Device_CreateBlendState(d3d.device, &desc, &state), "blending");
	ID3D11DeviceContext_OMSetBlendState(d3d.context, state, NULL, 0xffffffff);
}

/* Draws triangles whichever way they turn. */
static void use_both_faces(void)
{
	const D3D11_RASTERIZER_DESC desc = {
		.FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE, .DepthClipEnable = TRUE,
		.MultisampleEnable = TRUE,
	};
	ID3D11RasterizerState *state;

	check(ID3D11Device_CreateRasterizerState(d3d.device, &desc, &state), "rasterizer");
	ID3D11DeviceContext_RSSetState(d3d.context, state);
}

/* Depth tests, and a stencil that a draw increments, or that has to have a value */
static void use_depth_stencil(bool count, UINT wanted)
{
	const D3D11_DEPTH_STENCILOP_DESC face = {
		.StencilFailOp = D3D11_STENCIL_OP_KEEP, .StencilDepthFailOp = D3D11_STENCIL_OP_KEEP,
		.StencilPassOp = count ? D3D11_STENCIL_OP_INCR_SAT : D3D11_STENCIL_OP_KEEP,
		.StencilFunc = count ? D3D11_COMPARISON_ALWAYS : D3D11_COMPARISON_EQUAL,
	};
	const D3D11_DEPTH_STENCIL_DESC desc = {
		.DepthEnable = TRUE, .DepthWriteMask = D3D11_DEPTH_WRITE_MASK_ALL,
		.DepthFunc = D3D11_COMPARISON_LESS_EQUAL,
		.StencilEnable = TRUE, .StencilReadMask = 0xff, .StencilWriteMask = 0xff,
		.FrontFace = face, .BackFace = face,
	};
	ID3D11DepthStencilState *state;

	check(ID3D11Device_CreateDepthStencilState(d3d.device, &desc, &state), "depth and stencil");
	ID3D11DeviceContext_OMSetDepthStencilState(d3d.context, state, wanted);
}

/* Scenes: each draws into @target, which is clear. */

static void scene_triangle(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_triangle");
	use_pixel_shader("ps_colour");
	draw_triangle();
}

static void scene_instances(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_instances");
	use_pixel_shader("ps_colour");
	draw_quads(64);
}

static void scene_texture(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_floor");
	use_pixel_shader("ps_texture");
	use_texture(D3D11_FILTER_MIN_MAG_MIP_LINEAR);
	draw_quads(1);
}

static void scene_anisotropic(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_floor");
	use_pixel_shader("ps_texture");
	use_texture(D3D11_FILTER_ANISOTROPIC);
	draw_quads(1);
}

static void scene_blend(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_quad");
	use_pixel_shader("ps_round");
	use_blending();
	use_constants(-0.3f, -0.2f, 0.6f, 0, 1, 0.3f, 0.2f, 0.7f);
	draw_quads(1);
	use_constants(0.3f, -0.1f, 0.5f, 0, 0.2f, 1, 0.3f, 0.5f);
	draw_quads(1);
	use_constants(0, 0.4f, 0.5f, 0, 0.3f, 0.2f, 1, 0.6f);
	draw_quads(1);
}

static void scene_depth(ID3D11Texture2D *target)
{
	ID3D11RenderTargetView *colour = target_of(target);
	ID3D11DepthStencilView *depth = depth_of(make_texture(DXGI_FORMAT_D32_FLOAT_S8X24_UINT,
							      D3D11_BIND_DEPTH_STENCIL, 1));

	ID3D11DeviceContext_ClearDepthStencilView(d3d.context, depth,
						  D3D11_CLEAR_DEPTH | D3D11_CLEAR_STENCIL, 1, 0);
	ID3D11DeviceContext_OMSetRenderTargets(d3d.context, 1, &colour, depth);
	use_vertex_shader("vs_quad");
	use_pixel_shader("ps_round");
	use_depth_stencil(true, 0);
	use_constants(-0.2f, 0, 0.6f, 0.4f, 1, 0.3f, 0.2f, 1);
	draw_quads(1);
	use_constants(0.3f, 0.1f, 0.6f, 0.6f, 0.2f, 1, 0.3f, 1);
	draw_quads(1);
	use_constants(0, -0.4f, 0.5f, 0.2f, 0.3f, 0.2f, 1, 1);
	draw_quads(1);
	/* where two have been drawn, one behind the other */
	use_depth_stencil(false, 2);
	use_constants(0, 0, 1, 0.1f, 1, 1, 0.2f, 1);
	draw_quads(1);
}

static void scene_samples(ID3D11Texture2D *target)
{
	ID3D11Texture2D *samples = make_texture(FORMAT, D3D11_BIND_RENDER_TARGET, 4);
	ID3D11RenderTargetView *view = target_of(samples);

	clear(view);
	ID3D11DeviceContext_OMSetRenderTargets(d3d.context, 1, &view, NULL);
	use_vertex_shader("vs_instances");
	use_pixel_shader("ps_colour");
	draw_quads(64);
	ID3D11DeviceContext_ResolveSubresource(d3d.context, (ID3D11Resource *)target, 0,
					       (ID3D11Resource *)samples, 0, FORMAT);
}

/* Two targets, of which the second is looked at in the upper half */
static void scene_targets(ID3D11Texture2D *target)
{
	ID3D11Texture2D *second = make_texture(FORMAT, D3D11_BIND_RENDER_TARGET, 1);
	ID3D11RenderTargetView *views[2] = { target_of(target), target_of(second) };
	const D3D11_BOX upper = { .right = SIZE, .bottom = SIZE / 2, .back = 1 };

	clear(views[1]);
	ID3D11DeviceContext_OMSetRenderTargets(d3d.context, 2, views, NULL);
	use_vertex_shader("vs_triangle");
	use_pixel_shader("ps_two");
	draw_triangle();
	ID3D11DeviceContext_CopySubresourceRegion(d3d.context, (ID3D11Resource *)target, 0, 0, 0, 0,
						  (ID3D11Resource *)second, 0, &upper);
}

static void scene_loop(ID3D11Texture2D *target)
{
	use_vertex_shader("vs_quad");
	use_pixel_shader("ps_loop");
	use_constants(0, 0, 1, 0, 1, 1, 1, 1);
	draw_quads(1);
}

static void scene_compute(ID3D11Texture2D *target)
{
	ID3DBlob *code = compile(compute_shader, "cs_main", "cs_5_0");
	ID3D11UnorderedAccessView *view;
	ID3D11ComputeShader *shader;

	check(ID3D11Device_CreateComputeShader(d3d.device, ID3D10Blob_GetBufferPointer(code),
					       ID3D10Blob_GetBufferSize(code), NULL, &shader),
	      "compute shader");
	check(ID3D11Device_CreateUnorderedAccessView(d3d.device, (ID3D11Resource *)target, NULL,
						     &view), "unordered access");
	ID3D11DeviceContext_OMSetRenderTargets(d3d.context, 0, NULL, NULL);
	ID3D11DeviceContext_CSSetShader(d3d.context, shader, NULL, 0);
	ID3D11DeviceContext_CSSetUnorderedAccessViews(d3d.context, 0, 1, &view, NULL);
	ID3D11DeviceContext_Dispatch(d3d.context, SIZE / 8, SIZE / 8, 1);
}

static const struct {
	const char *name;
	void (*draw)(ID3D11Texture2D *target);
} scenes[] = {
	{ "triangle", scene_triangle }, { "instances", scene_instances },
	{ "texture", scene_texture }, { "anisotropic", scene_anisotropic },
	{ "blend", scene_blend }, { "depth", scene_depth }, { "samples", scene_samples },
	{ "targets", scene_targets }, { "loop", scene_loop }, { "compute", scene_compute },
};

/* Writes a texture to a file of red, green and blue. */
static void keep(ID3D11Texture2D *texture, const char *folder, const char *name)
{
	ID3D11Resource *copy = (ID3D11Resource *)make_texture(FORMAT, 0, 1);
	D3D11_MAPPED_SUBRESOURCE map;
	unsigned int x, y;
	char path[512];
	FILE *file;

	ID3D11DeviceContext_CopyResource(d3d.context, copy, (ID3D11Resource *)texture);
	check(ID3D11DeviceContext_Map(d3d.context, copy, 0, D3D11_MAP_READ, 0, &map), "map");
	snprintf(path, sizeof(path), "%s/%s.ppm", folder, name);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	fprintf(file, "P6\n%d %d\n255\n", SIZE, SIZE);
	for (y = 0; y < SIZE; y++) {
		const uint8_t *row = (const uint8_t *)map.pData + (size_t)map.RowPitch * y;

		for (x = 0; x < SIZE; x++)
			fwrite(row + 4 * x, 3, 1, file);
	}
	fclose(file);
	ID3D11DeviceContext_Unmap(d3d.context, copy, 0);
}

static void draw_scene(size_t i, const char *folder)
{
	const D3D11_VIEWPORT viewport = { .Width = SIZE, .Height = SIZE, .MaxDepth = 1 };
	ID3D11Texture2D *texture = make_texture(FORMAT, D3D11_BIND_RENDER_TARGET |
						D3D11_BIND_UNORDERED_ACCESS, 1);
	ID3D11RenderTargetView *target = target_of(texture);

	ID3D11DeviceContext_ClearState(d3d.context);
	clear(target);
	ID3D11DeviceContext_OMSetRenderTargets(d3d.context, 1, &target, NULL);
	ID3D11DeviceContext_RSSetViewports(d3d.context, 1, &viewport);
	use_both_faces();
	scenes[i].draw(texture);
	keep(texture, folder, scenes[i].name);
}

static bool is_named(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc == 2;
}

int main(int argc, char **argv)
{
	const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
	size_t i;

	if (argc < 2) {
		fputs("usage: d3d11-scenes.exe FOLDER [SCENE ...]\n", stderr);
		return 2;
	}
	check(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, &level, 1,
				D3D11_SDK_VERSION, &d3d.device, NULL, &d3d.context), "device");
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (is_named(scenes[i].name, argc, argv))
			draw_scene(i, argv[1]);
	}
	return 0;
}
