#!/usr/bin/env python3
"""Puts source files together so that the compiler reads their headers once: a batch is a file that includes its members.

    batches.py OUTDIR NAME MOST file.cc ...      writes OUTDIR/NAME_1.cc, ...; prints what to compile, one path per line

Files of one batch share a translation unit, so names in their unnamed namespaces would meet. Two files come together only
if neither so much as mentions a name that the other keeps to itself, or if that name can be given another by a macro while
its file is read; new files need no care. What a batch includes comes before its members, so that no header is read with their
names or macros in sight. A file that asks for a definition of its own, or for conditions, is compiled alone. Files are left
untouched when nothing changed.
"""

import collections
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'src')  # where quoted headers are
HEAVY = re.compile(r'#include <(boost/(asio|beast)|simdjson|CLI/|yaml-cpp|spdlog)')
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
NAMESPACE = re.compile(r'\bnamespace\s*([\w:]*)\s*$')
TYPE = re.compile(r'(?:template\s*<.*?>\s*)?(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)', re.S)
WORD = re.compile(r'[A-Za-z_]\w*')
QUOTED = re.compile(r'^#include "([^"]+)"', re.M)
ALONE = re.compile(r'\bMANGROVE_(VERSION|SOURCE_DIR)\b|^#\s*if', re.M)
MEMBER = re.compile(r'(?:\.|->|::)\s*([A-Za-z_]\w*)')
KEYWORDS = set('alignas alignof const_cast decltype delete dynamic_cast for if main new noexcept operator reinterpret_cast return sizeof '
               'static_assert static_cast switch throw typeid while'.split())


def without_noise(text):
    """No comments, literals and preprocessor lines."""
    text = NOISE.sub(' 0 ', text.replace('\\\n', ' '))
    return re.sub(r'^[ \t]*#[^\n]*', '', text, flags=re.M)


def heads(text):
    """(declaration up to its body or semicolon, whether in an unnamed namespace) of all at namespace scope."""
    spaces, depth, head = [], 0, ''
    for part in re.split(r'([{};])', text):
        if part == '{':
            space = NAMESPACE.search(head) if depth == 0 else None
            if space:
                spaces.append(space.group(1))
                head = ''
            else:
                if depth == 0:
                    yield head, '' in spaces
                depth += 1
        elif part == '}':
            if depth > 0:
                depth -= 1
            elif spaces:
                spaces.pop()
            if depth == 0:
                head = ''
        elif part == ';':
            if depth == 0:
                yield head, '' in spaces
                head = ''
        elif depth == 0:
            head += part


def name_of(head):
    test = re.match(r'\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)', head)
    if test:
        return f'{test.group(1)}_{test.group(2)}_Test'
    if re.match(r'\s*(?:INSTANTIATE_)?(?:TYPED_)?TEST_SUITE', head):
        return ''
    head = re.sub(r'\[\[.*?\]\]', '', head).strip()
    if not re.match(r'\w', head):
        return ''  # the rest of something that had braces
    kind = TYPE.match(head) or re.match(r'(?:using|namespace)\s+(\w+)\s*=', head) or re.match(r'using\s+(?:\w+::)*(\w+)$', head)
    if kind:
        return kind.group(1)
    before = None
    while before != head:
        before, head = head, re.sub(r'<[^<>()]*>', '', head)
    call = re.search(r'([\w:]+)\s*\(', head)
    if call and '=' not in head[:call.start()]:
        return call.group(1)
    words = re.findall(r'\w+', re.sub(r'\[.*', '', head.split('=')[0], flags=re.S))
    return words[-1] if words else ''


class Headers:
    """Which words the headers of the tree use, read once and with all they include."""

    def __init__(self):
        self.known = {}

    def words(self, header):
        if header not in self.known:
            self.known[header] = set()  # against circles
            path = os.path.join(ROOT, header)
            if os.path.exists(path):
                with open(path, encoding='utf-8') as file:
                    text = file.read()
                found = set(WORD.findall(without_noise(text)))
                for other in QUOTED.findall(text):
                    found |= self.words(other)
                self.known[header] = found
        return self.known[header]


class Source:
    def __init__(self, path, headers):
        self.path = path
        with open(path, encoding='utf-8') as file:
            text = file.read()
        self.alone = ALONE.search(text) is not None
        # A list (*.def) is read where its file says what its lines become.
        self.includes = [line for line in re.findall(r'^#include [<"][^">]+[">]', text, flags=re.M) if not line.endswith('.def"')]
        # Told to the headers: such files go together only with their like.
        self.defines = re.findall(r'^#define [^\n/]+', text.partition('#include')[0], flags=re.M)
        self.kind = (self.defines, {found[0] for found in HEAVY.findall(text)})
        code = without_noise(text)
        self.words = set(WORD.findall(MEMBER.sub(' ', code)))  # what is found by its own name
        self.own = dict(self._own(code))
        # The same macro twice is no clash; another of that name is.
        self.own.update((name, 'macro' + rest) for name, rest in re.findall(r'^[ \t]*#define (\w+)((?:.*\\\n)*.*)', text, flags=re.M))
        strange = set(MEMBER.findall(code)).union(*(headers.words(h) for h in QUOTED.findall(text)))
        self.can_rename = {n for n, text in self.own.items() if text == path and '_' not in n and not n.isupper()} - strange
        self.renamed = set()

    def _own(self, code):
        for head, unnamed in heads(code):
            name = name_of(head)
            is_using = re.match(r'\s*(using|namespace)\b', head)
            is_own = unnamed or is_using or re.match(r'\s*static\b', head)
            if name and '::' not in name and name not in KEYWORDS and is_own:
                yield name, ' '.join(head.split()) if is_using else self.path

    def rename_what(self, others_mention):
        self.renamed = {n for n in self.can_rename if others_mention(n)}
        for name in self.renamed:
            del self.own[name]
        self.words -= self.renamed

    def disturbs(self, other):
        return any(name in other.words and other.own.get(name) != text for name, text in self.own.items())

    def text(self):
        stem = re.sub(r'\W+', '_', os.path.splitext(os.path.relpath(self.path, ROOT))[0])
        names = sorted(self.renamed)
        return (''.join(f'#define {n} {n}_{stem}\n' for n in names) + f'#include "{self.path}"\n' +
                ''.join(f'#undef {n}\n' for n in names))


def batches(sources, most):
    mentions = collections.Counter(word for source in sources for word in source.words)
    for source in sources:
        source.rename_what(lambda name: mentions[name] > 1)
    begun = []
    for source in sources:
        for batch in begun:
            if (len(batch) < most and not source.alone and not batch[0].alone and batch[0].kind == source.kind and
                    not any(source.disturbs(other) or other.disturbs(source) for other in batch)):
                batch.append(source)
                break
        else:
            begun.append([source])
    return begun


def write(path, batch):
    lines = batch[0].defines + list(dict.fromkeys(line for source in batch for line in source.includes))
    text = '// Written by cmake/batches.py.\n' + ''.join(line.rstrip() + '\n' for line in lines)
    text += ''.join(source.text() for source in batch)
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            if file.read() == text:
                return
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main():
    headers = Headers()
    out, name, most, *files = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    number = 0
    for batch in batches([Source(path, headers) for path in files], int(most)):
        if len(batch) == 1:
            print(batch[0].path)
            continue
        number += 1
        path = f'{out}/{name}_{number}.cc'
        write(path, batch)
        print(path)


main()
