# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The part of libclang's C interface that the generator of defects needs.

The toolbox has libclang with the compiler, and not its Python module.
"""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_uint, c_void_p, py_object

LIBRARY = "libclang-19.so.1"

# Kinds of cursors, CXCursorKind of clang-c/Index.h
FUNCTION = 8
VARIABLE = 9
PARAMETER = 10
CALL = 103
CHARACTER = 110
PAREN = 111
UNARY = 112
BINARY = 114
COMPOUND_ASSIGN = 115
CONDITIONAL = 116
LABEL = 201
COMPOUND = 202
CASE = 203
DEFAULT = 204
IF = 205
SWITCH = 206
WHILE = 207
DO = 208
FOR = 209
GOTO = 210
RETURN = 214
DECLARATION = 231
STATIC_ASSERT = 602

# Kinds of types, CXTypeKind
VOID, BOOL, POINTER_TYPE, RECORD = 2, 3, 101, 105
INTEGERS = range(3, 21)

_KEEP_GOING = 0x200
_INCOMPLETE = 0x02


class _String(Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class _Cursor(Structure):
    _fields_ = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]


class _Location(Structure):
    _fields_ = [("data", c_void_p * 2), ("number", c_uint)]


class _Range(Structure):
    _fields_ = [("data", c_void_p * 2), ("begin", c_uint), ("end", c_uint)]


class _Type(Structure):
    _fields_ = [("kind", c_int), ("data", c_void_p * 2)]


_VISITOR = ctypes.CFUNCTYPE(c_int, _Cursor, _Cursor, py_object)


def _load():
    lib = ctypes.CDLL(LIBRARY)
    place = [_Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]
    for name, result, arguments in (
            ("createIndex", c_void_p, [c_int, c_int]),
            ("parseTranslationUnit", c_void_p,
             [c_void_p, c_char_p, POINTER(c_char_p), c_int, c_void_p, c_uint, c_uint]),
            ("disposeTranslationUnit", None, [c_void_p]),
            ("getTranslationUnitCursor", _Cursor, [c_void_p]),
            ("visitChildren", c_uint, [_Cursor, _VISITOR, py_object]),
            ("getCursorExtent", _Range, [_Cursor]),
            ("getCursorLocation", _Location, [_Cursor]),
            ("Location_isFromMainFile", c_int, [_Location]),
            ("getRangeStart", _Location, [_Range]),
            ("getRangeEnd", _Location, [_Range]),
            ("getExpansionLocation", None, place),
            ("getSpellingLocation", None, place),
            ("getCursorSpelling", _String, [_Cursor]),
            ("getCString", c_char_p, [_String]),
            ("disposeString", None, [_String]),
            ("getCursorType", _Type, [_Cursor]),
            ("getCanonicalType", _Type, [_Type]),
            ("getTypeSpelling", _String, [_Type]),
            ("getCursorResultType", _Type, [_Cursor]),
            ("isCursorDefinition", c_uint, [_Cursor]),
            ("Cursor_getNumArguments", c_int, [_Cursor]),
            ("Cursor_getArgument", _Cursor, [_Cursor, c_uint]),
            ("Cursor_getStorageClass", c_int, [_Cursor]),
            ("getCursorBinaryOperatorKind", c_int, [_Cursor]),
            ("getBinaryOperatorKindSpelling", _String, [c_int]),
            ("isExpression", c_uint, [c_int]),
            ("getNumDiagnostics", c_uint, [c_void_p]),
            ("getDiagnostic", c_void_p, [c_void_p, c_uint]),
            ("getDiagnosticSeverity", c_int, [c_void_p]),
            ("getDiagnosticSpelling", _String, [c_void_p])):
        function = getattr(lib, "clang_" + name)
        function.restype, function.argtypes = result, arguments
        setattr(lib, name, function)
    return lib


_lib = _load()


def _text(string):
    text = (_lib.getCString(string) or b"").decode()
    _lib.disposeString(string)
    return text


def _offset(location, getter):
    offset, file = c_uint(), c_void_p()
    getter(location, byref(file), None, None, byref(offset))
    return file.value, offset.value


class Cursor:
    """A node of the tree. "begin" and "end" are offsets in the main file, of what stands
    there: of the whole use, where a macro makes the node. "written" is false for a node
    that a macro makes; for an operator, its sign counts."""

    def __init__(self, raw):
        self.raw = raw
        self.kind = raw.kind
        extent = _lib.getCursorExtent(raw)
        start, end = _lib.getRangeStart(extent), _lib.getRangeEnd(extent)
        begin = _offset(start, _lib.getExpansionLocation)
        finish = _offset(end, _lib.getExpansionLocation)
        self.file, self.begin, self.end = begin[0], begin[1], finish[1]
        at = _lib.getCursorLocation(raw)
        self.written = (_offset(at, _lib.getExpansionLocation) ==
                        _offset(at, _lib.getSpellingLocation) and begin[0] == finish[0])

    @property
    def in_main_file(self):
        return bool(_lib.Location_isFromMainFile(_lib.getCursorLocation(self.raw)))

    @property
    def children(self):
        found = []

        def visit(cursor, _parent, _data):
            found.append(Cursor(cursor))
            return 1
        _lib.visitChildren(self.raw, _VISITOR(visit), None)
        return found

    @property
    def name(self):
        return _text(_lib.getCursorSpelling(self.raw))

    @property
    def type(self):
        """Kind and name of the canonical type."""
        it = _lib.getCanonicalType(_lib.getCursorType(self.raw))
        return it.kind, _text(_lib.getTypeSpelling(it))

    @property
    def result(self):
        """Kind of what a function returns."""
        return _lib.getCanonicalType(_lib.getCursorResultType(self.raw)).kind

    @property
    def is_definition(self):
        return bool(_lib.isCursorDefinition(self.raw))

    @property
    def is_static(self):
        return _lib.Cursor_getStorageClass(self.raw) == 3

    @property
    def is_expression(self):
        return bool(_lib.isExpression(self.kind))

    @property
    def arguments(self):
        return [Cursor(_lib.Cursor_getArgument(self.raw, number))
                for number in range(max(0, _lib.Cursor_getNumArguments(self.raw)))]

    @property
    def operator(self):
        return _text(_lib.getBinaryOperatorKindSpelling(_lib.getCursorBinaryOperatorKind(self.raw)))


def parse(path, flags):
    """The root of a file's tree, what to dispose of it with, and the errors in it."""
    words = [flag.encode() for flag in flags]
    index = _lib.createIndex(0, 0)
    unit = _lib.parseTranslationUnit(index, str(path).encode(),
                                     (c_char_p * len(words))(*words), len(words), None, 0,
                                     _KEEP_GOING | _INCOMPLETE)
    if not unit:
        raise RuntimeError(f"{path}: libclang does not read it")
    errors = []
    for number in range(_lib.getNumDiagnostics(unit)):
        diagnostic = _lib.getDiagnostic(unit, number)
        if _lib.getDiagnosticSeverity(diagnostic) >= 3:
            errors.append(_text(_lib.getDiagnosticSpelling(diagnostic)))
    root = Cursor(_lib.getTranslationUnitCursor(unit))
    return root, lambda: _lib.disposeTranslationUnit(unit), errors
