// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

layout(binding = 0) uniform sampler2D image;

layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 coordinate;
layout(location = 3) flat in vec3 tint;
layout(location = 0) out vec4 pixel;

const vec3 LIGHT = vec3(1.5, 4.0, 3.0);
const vec3 EYE = vec3(2.5, 3.0, 3.8);

void main()
{
	vec3 up = normalize(normal);
	vec3 to_light = normalize(LIGHT - place);
	vec3 half_way = normalize(to_light + normalize(EYE - place));
	float diffuse = max(dot(up, to_light), 0.0);
	float shine = pow(max(dot(up, half_way), 0.0), 48.0);
	vec3 colour = texture(image, coordinate).rgb * tint;

	pixel = vec4(colour * (0.15 + 0.85 * diffuse) + 0.5 * shine, 1.0);
}
