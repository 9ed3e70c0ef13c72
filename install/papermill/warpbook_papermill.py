"""Lets papermill set the parameters of Go notebooks.

papermill writes the parameters that -p sets into a cell behind the one tagged
"parameters". This translator writes them as assignments, so that a variable
keeps the type of its declaration: n := 1 << 20 and -p n 100000 give n = 100000.
"""
import json
import math

from papermill.engines import NBClientEngine
from papermill.translators import Translator, papermill_translators


class GoTranslator(Translator):
    @classmethod
    def translate_none(cls, val):
        return "nil"

    @classmethod
    def translate_bool(cls, val):
        return "true" if val else "false"

    @classmethod
    def translate_float(cls, val):
        if not math.isfinite(val):
            raise ValueError(f"parameter {val}: Go has no such constant, expected a finite number")
        return repr(float(val))

    @classmethod
    def translate_escaped_str(cls, val):
        return json.dumps(str(val), ensure_ascii=False)

    @classmethod
    def translate_list(cls, val):
        return "[]" + cls.type_of(val) + "{" + ", ".join(map(cls.translate, val)) + "}"

    @classmethod
    def translate_dict(cls, val):
        pairs = (f"{cls.translate(str(k))}: {cls.translate(v)}" for k, v in val.items())
        return "map[string]" + cls.type_of(val.values()) + "{" + ", ".join(pairs) + "}"

    @classmethod
    def type_of(cls, values):
        """The Go type of the elements of a list or a dictionary."""
        types = {type(v) for v in values}
        if types == {int, float}:
            return "float64"
        return {bool: "bool", int: "int", float: "float64", str: "string"}.get(types.pop(), "any") if len(types) == 1 else "any"

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}".strip()

    @classmethod
    def assign(cls, name, str_val):
        return f"{name} = {str_val}"


class Engine(NBClientEngine):
    """papermill's own engine. It is here to have this module imported."""


papermill_translators.register("warpbook", GoTranslator)
