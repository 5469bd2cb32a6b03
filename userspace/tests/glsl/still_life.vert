// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#version 450

// A ring, a ball and the floor below them, of patches: each instance is one, and
// its four vertices have their places in it as coordinates.

layout(location = 2) in vec2 corner;

layout(location = 0) out vec3 out_place;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec2 out_coordinate;
layout(location = 3) flat out vec3 out_tint;

const float TURN = 6.2831853;
const uvec2 RING = uvec2(64, 28);
const uvec2 BALL = uvec2(36, 20);
const uint RING_PATCHES = RING.x * RING.y;
const uint BALL_PATCHES = BALL.x * BALL.y;

const float DISTANCE = 5.2;
const float NEAR = 1.0;
const float FAR = 14.0;

vec2 coordinate(uint patch_number, uvec2 patches)
{
	uvec2 which = uvec2(patch_number % patches.x, patch_number / patches.x);

	return (vec2(which) + corner) / vec2(patches);
}

void ring(vec2 c)
{
	float around = c.x * TURN, across = c.y * TURN;
	vec3 outwards = vec3(cos(around), 0.0, sin(around));

	out_normal = cos(across) * outwards + vec3(0.0, sin(across), 0.0);
	out_place = 1.35 * outwards + 0.45 * out_normal + vec3(0.0, 0.45, 0.0);
	out_coordinate = c * vec2(6.0, 2.0);
	out_tint = vec3(0.95, 0.55, 0.25);
}

void ball(vec2 c)
{
	float around = c.x * TURN, down = c.y * TURN / 2.0;

	out_normal = vec3(sin(down) * cos(around), cos(down), sin(down) * sin(around));
	out_place = 0.75 * out_normal + vec3(0.0, 0.95, 0.0);
	out_coordinate = c * vec2(4.0, 2.0);
	out_tint = vec3(0.35, 0.65, 0.95);
}

void ground()
{
	vec2 c = corner * 2.0 - 1.0;

	out_normal = vec3(0.0, 1.0, 0.0);
	out_place = vec3(c.x * 3.4, 0.0, c.y * 3.4);
	out_coordinate = c * 3.0;
	out_tint = vec3(0.75, 0.8, 0.7);
}

// As seen from above, at an angle
vec4 projected(vec3 place)
{
	const float turned = 0.6, tilted = 0.5;
	float x = cos(turned) * place.x + sin(turned) * place.z;
	float z = cos(turned) * place.z - sin(turned) * place.x;
	float y = place.y - 0.5;
	vec3 seen = vec3(x, cos(tilted) * y - sin(tilted) * z,
			 DISTANCE - cos(tilted) * z - sin(tilted) * y);

	return vec4(seen.x * 1.35, -seen.y * 1.8,
		    FAR * (seen.z - NEAR) / (FAR - NEAR), seen.z);
}

void main()
{
	uint number = uint(gl_InstanceIndex);

	if (number < RING_PATCHES)
		ring(coordinate(number, RING));
	else if (number < RING_PATCHES + BALL_PATCHES)
		ball(coordinate(number - RING_PATCHES, BALL));
	else
		ground();
	gl_Position = projected(out_place);
}
