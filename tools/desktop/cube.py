# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
For Blender: the cube that it begins with, rendered by EEVEE.

usage: blender -b --python-exit-code 1 --python cube.py -- PICTURE
"""
import sys

import bpy

scene = bpy.context.scene
scene.render.engine = "BLENDER_EEVEE_NEXT"
scene.render.resolution_x, scene.render.resolution_y = 160, 120
scene.render.resolution_percentage = 100
scene.render.image_settings.color_mode = "RGB"
scene.eevee.taa_render_samples = 2
scene.render.filepath = sys.argv[-1]
bpy.ops.render.render(write_still=True)
