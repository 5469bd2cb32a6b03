/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A display for programs of X11, whose server draws on the virtual GPU, for vagx-run.
 */
#ifndef RUN_DISPLAY_H
#define RUN_DISPLAY_H

#include <stdbool.h>

/**
 * struct run_display - the size of a display
 */
struct run_display {
	/** @width: pixels of a row */
	unsigned int width;
	/** @height: rows */
	unsigned int height;
};

/**
 * run_display_parse() - read a size
 * @display: is filled in
 * @size: WIDTHxHEIGHT, each from 64 to 8192; NULL for 800x600
 *
 * Return: false after a message.
 */
bool run_display_parse(struct run_display *display, const char *size);

/**
 * run_display_start() - start Weston with Xwayland, and choose that display
 * @display: its size
 * @scratch: folder for files that have to be written
 *
 * Both get the environment as it is, without displays and without the files of --record,
 * --trace and --report. The X server answers when the function returns. Programs that are
 * executed from then on find it by DISPLAY, and no other display. There is one at a time.
 *
 * Return: false after a message.
 */
bool run_display_start(const struct run_display *display, const char *scratch);

/**
 * run_display_stop() - end the display and wait for its end
 *
 * Return: false after a message if it had ended before.
 */
bool run_display_stop(void);

/**
 * run_display_report() - where the display's processes report
 * @scratch: as run_display_start() was given it
 *
 * Return: the file's path, to be freed.
 */
char *run_display_report(const char *scratch);

/**
 * run_display_clean_up() - remove all files of a display
 * @scratch: folder that they are in
 */
void run_display_clean_up(const char *scratch);

#endif /* RUN_DISPLAY_H */
