# SPDX-License-Identifier: MIT
"""Lists the live roots of a process or of a core file, in gdb:

    (gdb) source boxroot-c/gdb/boxroot.py
    (gdb) boxroots          each domain, its pools, and how many roots they have
    (gdb) boxroots values   also each root, with its value
    (gdb) boxroots stacks   the call stacks that created the roots in the profile, if there is one

The library must have debug information (-g). The script only reads memory. If a thread was stopped
in the middle of an operation, the root of that operation may be missing, or listed although it is
deleted. In the checked flavour a handle is not the address of the root. The list shows addresses of
roots.
"""

import struct

import gdb

WORD = 8
NO_SLOT = 1
CURRENT = 0  # of enum bxr_kind
KINDS = ["current", "full", "partial", "empty"]
HEAD_OFFSETS = 0x1C0
LISTS = ["young", "young_partial", "old", "old_partial", "empty"]


def offset_of(kind, name):
    """The offset of a member, which may be in an anonymous union."""
    for field in kind.fields():
        if field.name == name:
            return field.bitpos // 8
        if not field.name:
            try:
                return field.bitpos // 8 + offset_of(field.type, name)
            except KeyError:
                pass
    raise KeyError(name)


def words(address, count):
    memory = gdb.selected_inferior().read_memory(address, count * WORD)
    return struct.unpack(f"={count}Q", memory)


def bits_set(numbers):
    return {64 * i + bit for i, n in enumerate(numbers) for bit in range(64) if n >> bit & 1}


def describe(v):
    """An OCaml value."""
    if v & 1:
        return f"{(v - (1 << 64) if v >> 63 else v) >> 1}"
    try:
        (header,) = words(v - WORD, 1)
        tag, size = header & 0xFF, header >> 10
        if tag != 252 or size == 0:
            return f"block of tag {tag} and size {size} at {v:#x}"
        last = gdb.selected_inferior().read_memory(v + size * WORD - 1, 1)[0][0]
        length = size * WORD - 1 - last
        text = bytes(gdb.selected_inferior().read_memory(v, min(length, 60)))
        return repr(text.decode(errors="replace")) + ("..." if length > 60 else "")
    except gdb.MemoryError:
        return f"{v:#x}, which is in no memory"


class Library:
    """A copy of the library in the program, identified by its static variable `registry`."""

    def __init__(self, registry):
        self.registry = registry.value()
        self.file = registry.symtab.objfile
        self.domain = registry.type.target().strip_typedefs()
        pool = next(f for f in self.domain.fields() if f.name == "current").type.target()
        self.pool = pool.strip_typedefs()
        self.bits_words = next(
            f for f in self.pool.fields() if f.name == "waiting_bits").type.range()[1] + 1
        self.pool_size = self.bits_words * 64 * WORD
        self.slots = offset_of(self.pool, "slots")
        bits_size = self.bits_words * WORD
        self.room = HEAD_OFFSETS + (bits_size if bits_size > 256 else 0)
        self.slot_count = (self.pool_size - self.room - self.slots) // WORD

    def static(self, name):
        symbols = [s for s in gdb.lookup_static_symbols(name) if s.symtab.objfile == self.file]
        return symbols[0].value() if symbols else None

    def domains(self):
        domain, found = self.registry, []
        while int(domain) != 0:
            found.append(domain.dereference())
            domain = domain["next_registered"]
        return found[::-1]

    def deleted_remotely(self):
        """The addresses of roots that a domain has deleted without having told their owner yet."""
        for domain in self.domains():
            batches = [domain["head"]["outgoing"]]
            batches += [domain["batches"][i] for i in range(int(domain["batch_count"]))]
            for batch in batches:
                start, bits = int(batch["start"]), int(batch["bits"])
                yield from (start + WORD * bit for bit in bits_set([bits]) if bits)

    def pools(self, domain):
        pointer, offset = self.pool.pointer(), offset_of(self.pool, "link")
        if int(domain["current"]) != 0:
            yield domain["current"].dereference()
        for name in LISTS:
            end, seen = int(domain[name].address), set()
            link = domain[name]["next"]
            while int(link) != end and int(link) not in seen:
                seen.add(int(link))
                yield gdb.Value(int(link) - offset).cast(pointer).dereference()
                link = link["next"]

    def roots(self, domain, pool, gone):
        """The addresses of live roots, with their values."""
        address = int(pool.address)
        start = address & -self.pool_size
        high = min(int(pool["high_water"]), self.slot_count)
        slots = words(address + self.slots, high) if high else ()
        first = address + self.slots
        free = set()
        lists = [int(pool["head"]["free"]), int(domain["head"]["free"])]
        if int(pool["kind"]) == CURRENT:
            lists.append(int(pool["aside"]))
        for link in lists:
            while link != NO_SLOT:
                i = (link - 1 - first) // WORD
                if not 0 <= i < high or i in free:
                    break
                free.add(i)
                link = slots[i]
        in_front = address & HEAD_OFFSETS
        size = self.bits_words * WORD
        pending = address - size if in_front >= size else first + self.slot_count * WORD
        bits = bits_set(words(pending, self.bits_words))
        bits |= bits_set([int(pool["waiting_bits"][i]) for i in range(self.bits_words)])
        for i in range(high):
            root = first + WORD * i
            if i not in free and (root - start) // WORD not in bits and root not in gone:
                yield root, slots[i]

    def samples(self):
        """The call stack of each root that is in the profile."""
        mirrors, stacks, found = self.static("mirrors"), self.static("stack_words"), {}
        if mirrors is None or stacks is None:
            return found
        stacks = int(stacks.address)
        for i in range(mirrors.type.range()[1] + 1):
            mirror = mirrors[i]
            while int(mirror) != 0:
                start = int(mirror["pool"]) & -self.pool_size
                if int(mirror["pool"]) != start:
                    all_samples = words(int(mirror), self.pool_size // WORD)
                    for word in range(2, len(all_samples)):
                        index = all_samples[word] & 0xFFFFFFFF
                        if index != 0:
                            stack = stacks + WORD * index  # a struct bxr_stack
                            depth = words(stack + WORD, 1)[0] >> 32
                            found[start + WORD * word] = words(stack + 3 * WORD, depth)
                mirror = mirror["next"]
        return found


def name_of(address):
    """The function and the line of a return address."""
    symbol = gdb.execute(f"info symbol {address - 1:#x}", to_string=True).split(" in section")[0]
    line = gdb.find_pc_line(address - 1)
    place = f" at {line.symtab.filename}:{line.line}" if line.symtab else ""
    return symbol.strip().split(" + ")[0] + place


def count(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def libraries():
    found = [symbol for symbol in gdb.lookup_static_symbols("registry")
             if symbol.type.code == gdb.TYPE_CODE_PTR and symbol.type.target().name == "bxr_domain"]
    if not found:
        raise gdb.GdbError("boxroots: no library with debug information is in this program")
    return [Library(symbol) for symbol in found]


def list_stacks(library):
    stacks = {}
    for stack in library.samples().values():
        stacks[stack] = stacks.get(stack, 0) + 1
    for stack, roots in sorted(stacks.items(), key=lambda pair: -pair[1]):
        print(f"{count(roots, 'sampled root')} created by")
        for address in stack:
            print(f"  {name_of(address)}")


class Boxroots(gdb.Command):
    """List live roots, by domain and pool: boxroots [values | stacks]"""

    def __init__(self):
        super().__init__("boxroots", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if argument not in ("", "values", "stacks"):
            raise gdb.GdbError("boxroots [values | stacks]")
        for library in libraries():
            if argument == "stacks":
                list_stacks(library)
                continue
            gone = set(library.deleted_remotely())
            for number, domain in enumerate(library.domains()):
                self.list(library, number, domain, gone, argument == "values")

    def list(self, library, number, domain, gone, values):
        pools = [(pool, list(library.roots(domain, pool, gone))) for pool in library.pools(domain)]
        state, total = int(domain["head"]["runtime_state"]), sum(len(roots) for _, roots in pools)
        of = "sampled roots" if int(domain["is_shadow"]) else f"Caml_state {state:#x}"
        if state <= 1 and not int(domain["is_shadow"]):
            of = "not in use"
        print(f"domain {number} ({of}): {count(total, 'root')} in {count(len(pools), 'pool')}")
        for pool, roots in pools:
            age = "young" if int(pool["head"]["young"]) else "old"
            kind = KINDS[int(pool["kind"])]
            print(f"  pool {int(pool.address):#x}, {kind}, {age}: {count(len(roots), 'root')}")
            for root, value in roots if values else ():
                print(f"    {root:#x}: {describe(value)}")


Boxroots()
