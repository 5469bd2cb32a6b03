// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Finds Mesa's drivers, of the system or of a folder, and sets the variables by which the
 * Vulkan and OpenCL loaders, glvnd, GBM and the dynamic linker find them. Drivers are found by
 * patterns of paths, since distributions and Mesa's own installation differ; the first match
 * wins. Variables that would bring other drivers back are removed. One thread, before the fork.
 */
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_mesa.h"

/* A path that does not exist: with it a Vulkan program finds no driver, rather than another */
#define NO_DRIVER	"/nonexistent/asahi_icd.json"
/* and an OpenGL program no EGL, rather than the system's */
#define NO_VENDOR	"/nonexistent/mesa.json"

/* Files and a folder that are made below run_mesa::scratch */
#define VULKAN_ICD	"asahi_icd.json"
#define OPENCL_VENDORS	"opencl"
#define OPENCL_ICD	OPENCL_VENDORS "/rusticl.icd"

char *run_format(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0) {
		fputs("vagx-run: no memory\n", stderr);
		abort();
	}
	return text;
}

void run_set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name)) {
		perror("vagx-run: environment");
		abort();
	}
}

void run_set_default(const char *name, const char *value)
{
	const char *given = getenv(name);

	if (!given || !*given)
		run_set(name, value);
}

void run_prepend(const char *name, const char *value, char separator)
{
	const char *given = getenv(name);
	char *text;

	if (!given || !*given) {
		run_set(name, value);
		return;
	}
	text = run_format("%s%c%s", value, separator, given);
	run_set(name, text);
	free(text);
}

/* Return: the first file below @dir that fits one of the patterns, or NULL */
static char *run_mesa_find(const char *dir, const char *const *patterns)
{
	char *found = NULL;

	for (; *patterns && !found; patterns++) {
		char *pattern = run_format("%s/%s", dir, *patterns);
		glob_t files;

		if (!glob(pattern, 0, NULL, &files)) {
			found = run_format("%s", files.gl_pathv[0]);
			globfree(&files);
		}
		free(pattern);
	}
	return found;
}

static char *run_mesa_folder_of(const char *path)
{
	char *folder = run_format("%s", path);
	char *end = strrchr(folder, '/');

	if (end)
		*end = '\0';
	return folder;
}

static bool run_mesa_is_there(const char *dir, const char *const *patterns)
{
	char *found = run_mesa_find(dir, patterns);

	free(found);
	return found;
}

/* Writes a file of one line for a loader. Return: false after a message. */
static bool run_mesa_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool ok = file && fprintf(file, "%s\n", text) > 0;

	if (file && fclose(file))
		ok = false;
	if (!ok)
		fprintf(stderr, "vagx-run: %s: %s\n", path, strerror(errno));
	return ok;
}

/*
 * Makes a folder with rusticl's file and no other, for the OpenCL loaders: one of them takes
 * a file in the place of a folder, the other does not. Without rusticl (@library is NULL) it is
 * empty, and a program finds no platform. Return: false after a message.
 */
static bool run_mesa_choose_cl(struct run_mesa *mesa, const char *library)
{
	char *folder = run_format("%s/" OPENCL_VENDORS, mesa->scratch);
	char *icd = run_format("%s/" OPENCL_ICD, mesa->scratch);
	bool ok = !mkdir(folder, 0755) && !chmod(folder, 0755);

	mesa->has_cl = library;
	if (!ok)
		fprintf(stderr, "vagx-run: %s: %s\n", folder, strerror(errno));
	ok = ok && (!library || run_mesa_write(icd, library));
	run_set("OCL_ICD_VENDORS", folder);
	free(icd);
	free(folder);
	return ok;
}

/* The system's own Mesa */

/* Return: name or path of the library that a file of an OpenCL loader names, or NULL */
static char *run_mesa_read_icd(const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char *library = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getline(&library, &size, file) < 0) {
		free(library);
		library = NULL;
	} else {
		library[strcspn(library, " \t\n")] = '\0';
	}
	fclose(file);
	return library;
}

static bool run_mesa_choose_system_cl(struct run_mesa *mesa)
{
	static const char *const icds[] = {
		"etc/OpenCL/vendors/rusticl*.icd", "usr/local/etc/OpenCL/vendors/rusticl*.icd",
		"usr/share/OpenCL/vendors/rusticl*.icd", NULL,
	};
	char *icd = run_mesa_find("", icds), *library = run_mesa_read_icd(icd);
	bool ok = run_mesa_choose_cl(mesa, library);

	free(library);
	free(icd);
	return ok;
}

/*
 * Chooses the system's drivers; a Vulkan program finds none if Honeykrisp is missing. Return:
 * false after a message.
 */
static bool run_mesa_choose_system(struct run_mesa *mesa)
{
	static const char *const icds[] = {
		"usr/local/share/vulkan/icd.d/asahi_icd*.json",
		"etc/vulkan/icd.d/asahi_icd*.json",
		"usr/share/vulkan/icd.d/asahi_icd*.json",
		NULL,
	};
	static const char *const drivers[] = {
		"usr/lib/*/dri/asahi_dri.so", "usr/lib/dri/asahi_dri.so",
		"usr/lib64/dri/asahi_dri.so", "usr/local/lib/*/dri/asahi_dri.so", NULL,
	};
	static const char *const other_icds[] = {
		"etc/vulkan/icd.d/lvp_icd*.json", "usr/share/vulkan/icd.d/lvp_icd*.json", NULL,
	};
	static const char *const other_drivers[] = {
		"usr/lib/*/dri/swrast_dri.so", "usr/lib/dri/swrast_dri.so",
		"usr/lib64/dri/swrast_dri.so", NULL,
	};
	static const char *const vendors[] = {
		"usr/share/glvnd/egl_vendor.d/*mesa*.json",
		"etc/glvnd/egl_vendor.d/*mesa*.json", NULL,
	};
	char *icd = run_mesa_find("", icds), *driver = run_mesa_find("", drivers),
	     *vendor = run_mesa_find("", vendors);

	mesa->has_vulkan = icd;
	mesa->has_gl = driver;
	mesa->has_other_vulkan = run_mesa_is_there("", other_icds);
	mesa->has_other_gl = run_mesa_is_there("", other_drivers);
	run_set("VK_DRIVER_FILES", icd ? icd : NO_DRIVER);
	if (vendor)
		run_set("__EGL_VENDOR_LIBRARY_FILENAMES", vendor);
	free(icd);
	free(driver);
	free(vendor);
	return run_mesa_choose_system_cl(mesa);
}

/* A Mesa that was installed somewhere else, or only built */

/*
 * Writes a file for the Vulkan loader, because the installation's own has the path for which
 * Mesa was configured: a wrong one if it was installed with DESTDIR. Return: false after a
 * message.
 */
static bool run_mesa_write_icd(const struct run_mesa *mesa, const char *library)
{
	char *path = run_format("%s/" VULKAN_ICD, mesa->scratch);
	char *text = run_format("{\"file_format_version\": \"1.0.1\", \"ICD\": "
				"{\"api_version\": \"1.4.0\", \"library_path\": \"%s\"}}", library);
	bool ok = run_mesa_write(path, text);

	if (ok)
		run_set("VK_DRIVER_FILES", path);
	free(text);
	free(path);
	return ok;
}

/*
 * Finds the folder of the OpenGL driver's library, beside which EGL's is. Older Mesas, and such as
 * have X11, name drivers below dri; others have one library with all drivers that were built.
 * Return: that folder, or NULL.
 */
static char *run_mesa_find_gl(const struct run_mesa *mesa)
{
	static const char *const drivers[] = {
		"lib/*/dri/asahi_dri.so", "lib/dri/asahi_dri.so", "lib64/dri/asahi_dri.so",
		"usr/lib/*/dri/asahi_dri.so", "usr/lib/dri/asahi_dri.so",
		"usr/lib64/dri/asahi_dri.so", "usr/local/lib/*/dri/asahi_dri.so",
		"usr/local/lib/dri/asahi_dri.so", "usr/local/lib64/dri/asahi_dri.so", NULL,
	};
	static const char *const libraries[] = {
		"lib/*/libgallium-*.so", "lib/libgallium-*.so", "lib64/libgallium-*.so",
		"usr/lib/*/libgallium-*.so", "usr/lib/libgallium-*.so",
		"usr/lib64/libgallium-*.so", "usr/local/lib/*/libgallium-*.so",
		"usr/local/lib/libgallium-*.so", "usr/local/lib64/libgallium-*.so", NULL,
	};
	char *driver = run_mesa_find(mesa->dir, drivers),
	     *library = driver ? NULL : run_mesa_find(mesa->dir, libraries),
	     *folder = NULL;

	if (driver) {
		char *dri = run_mesa_folder_of(driver);

		folder = run_mesa_folder_of(dri);
		free(dri);
	} else if (library) {
		folder = run_mesa_folder_of(library);
	}
	free(library);
	free(driver);
	return folder;
}

/* Has EGL, GBM and the linker use the installation whose libraries are in this folder. */
static void run_mesa_choose_gl(const struct run_mesa *mesa, const char *libraries)
{
	static const char *const vendors[] = {
		"share/glvnd/egl_vendor.d/*mesa*.json",
		"usr/share/glvnd/egl_vendor.d/*mesa*.json",
		"usr/local/share/glvnd/egl_vendor.d/*mesa*.json", NULL,
	};
	char *drivers = run_format("%s/dri", libraries);
	char *backends = run_format("%s/gbm", libraries);
	char *vendor = run_mesa_find(mesa->dir, vendors);

	run_set("LIBGL_DRIVERS_PATH", drivers);
	run_set("GBM_BACKENDS_PATH", backends);
	run_prepend("LD_LIBRARY_PATH", libraries, ':');
	if (vendor)
		run_set("__EGL_VENDOR_LIBRARY_FILENAMES", vendor);
	free(vendor);
	free(backends);
	free(drivers);
}

/* Chooses the drivers below mesa->dir. Return: false after a message if there is none. */
static bool run_mesa_choose_dir(struct run_mesa *mesa)
{
	static const char *const libraries[] = {
		"lib/*/libvulkan_asahi.so", "lib/libvulkan_asahi.so",
		"lib64/libvulkan_asahi.so", "usr/lib/*/libvulkan_asahi.so",
		"usr/lib/libvulkan_asahi.so", "usr/lib64/libvulkan_asahi.so",
		"usr/local/lib/*/libvulkan_asahi.so", "usr/local/lib/libvulkan_asahi.so",
		"usr/local/lib64/libvulkan_asahi.so", "src/asahi/vulkan/libvulkan_asahi.so", NULL,
	};
	static const char *const cl_libraries[] = {
		"lib/*/libRusticlOpenCL.so.1", "lib/libRusticlOpenCL.so.1",
		"lib64/libRusticlOpenCL.so.1", "usr/lib/*/libRusticlOpenCL.so.1",
		"usr/lib/libRusticlOpenCL.so.1", "usr/lib64/libRusticlOpenCL.so.1",
		"usr/local/lib/*/libRusticlOpenCL.so.1", "usr/local/lib/libRusticlOpenCL.so.1",
		"usr/local/lib64/libRusticlOpenCL.so.1", NULL,
	};
	char *library = run_mesa_find(mesa->dir, libraries),
	     *gl = run_mesa_find_gl(mesa),
	     *cl_library = run_mesa_find(mesa->dir, cl_libraries);
	bool ok = library || gl;

	mesa->has_vulkan = library;
	mesa->has_gl = gl;
	if (!ok)
		fprintf(stderr, "vagx-run: below %s there is neither libvulkan_asahi.so nor "
			"dri/asahi_dri.so nor libgallium-*.so: it has to be where Mesa was installed, or its build folder\n",
			mesa->dir);
	run_set("VK_DRIVER_FILES", NO_DRIVER);
	run_set("__EGL_VENDOR_LIBRARY_FILENAMES", gl ? NULL : NO_VENDOR);
	if (library)
		ok = run_mesa_write_icd(mesa, library);
	if (gl)
		run_mesa_choose_gl(mesa, gl);
	ok = ok && run_mesa_choose_cl(mesa, cl_library);
	free(library);
	free(gl);
	free(cl_library);
	return ok;
}

bool run_mesa_choose(struct run_mesa *mesa)
{
	/* Each of these would bring other drivers back. */
	static const char *const others[] = {
		"VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT",
		"VK_LOADER_DRIVERS_DISABLE", "LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER",
		"MESA_LOADER_DRIVER_OVERRIDE", "__GLX_VENDOR_LIBRARY_NAME",
		"__EGL_VENDOR_LIBRARY_DIRS", "OCL_ICD_FILENAMES",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		run_set(others[i], NULL);
	if (mesa->dir)
		return run_mesa_choose_dir(mesa);
	return run_mesa_choose_system(mesa);
}

/* Says why a driver is not there, and which package has it. */
static void run_mesa_explain_driver(const struct run_mesa *mesa, const char *api,
				    const char *package, bool has_others)
{
	if (mesa->dir)
		fprintf(stderr, "vagx-run: Mesa's %s driver asahi is not installed below %s\n", api,
			mesa->dir);
	else if (has_others)
		fprintf(stderr, "vagx-run: Mesa is installed here, but without its %s driver asahi: it is too old, or was built without (Debian trixie: %s of trixie-backports), see also --mesa\n",
			api, package);
	else
		fprintf(stderr, "vagx-run: Mesa's %s driver asahi is not installed (Debian: %s), see also --mesa\n",
			api, package);
}

void run_mesa_explain(const struct run_mesa *mesa)
{
	if (!mesa->has_vulkan)
		run_mesa_explain_driver(mesa, "Vulkan", "mesa-vulkan-drivers", mesa->has_other_vulkan);
	if (!mesa->has_gl)
		run_mesa_explain_driver(mesa, "OpenGL", "libgl1-mesa-dri", mesa->has_other_gl);
	if (!mesa->has_cl)
		fputs("vagx-run: Mesa's OpenCL, rusticl, is not installed (Debian: mesa-opencl-icd)\n",
		      stderr);
}

void run_mesa_clean_up(const char *scratch)
{
	static const char *const files[] = { VULKAN_ICD, OPENCL_ICD };
	char *folder = run_format("%s/" OPENCL_VENDORS, scratch);
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = run_format("%s/%s", scratch, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(folder);
	free(folder);
}
