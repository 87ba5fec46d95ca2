# What is not translated: what a class of interned instances becomes is the translator's business.
class Interned(type):
    made: dict[tuple[object, ...], object] = {}

    def __call__(cls, *fields: object) -> object:
        return cls.made.setdefault((cls, *fields), super().__call__(*fields))
