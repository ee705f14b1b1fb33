/** The attributes of a file in `.gitattributes`, by linguist's names; null where unset. */
export interface LinguistAttributes {
  isGenerated: boolean | null;
  isVendored: boolean | null;
  isDocumentation: boolean | null;
  /** Name of a language, unparsed. */
  language: string | null;
}

/** A `.gitattributes` file and its folder, '' for the root. */
interface AttributesFile {
  folder: string;
  text: string;
}

type Matcher = (path: string) => boolean;

interface Rule {
  folder: string;
  matches: Matcher;
  attributes: Partial<LinguistAttributes>;
}

/**
 * Limits on a file, against generated ones. Matching a rule against a path takes time that grows with the product of
 * their lengths.
 */
const limits = { rules: 200, pattern: 200, path: 1_000 };

const names = {
  'linguist-generated': 'isGenerated',
  'linguist-vendored': 'isVendored',
  'linguist-documentation': 'isDocumentation',
} as const;

const nothing: LinguistAttributes = Object.freeze({
  isGenerated: null,
  isVendored: null,
  isDocumentation: null,
  language: null,
});

/**
 * The attributes of files by gitattributes(5): later lines and files of deeper folders win. Macros are ignored.
 * @param files in any order
 * @param maxRules further rules are ignored: use fewer of them for many paths
 */
export function linguistAttributes(
  files: readonly AttributesFile[],
  maxRules: number = limits.rules,
): (path: string) => LinguistAttributes {
  const rules = [...files]
    .sort((one, other) => one.folder.length - other.folder.length)
    .flatMap(rulesOf)
    .slice(0, Math.min(maxRules, limits.rules));
  if (rules.length === 0) return () => nothing;
  return (path) => {
    if (path.length > limits.path) return nothing;
    const found = { ...nothing };
    for (const { folder, matches, attributes } of rules)
      if (
        (folder === '' || path.startsWith(`${folder}/`)) &&
        matches(folder === '' ? path : path.slice(folder.length + 1))
      )
        Object.assign(found, attributes);
    return found;
  };
}

function rulesOf({ folder, text }: AttributesFile): Rule[] {
  if (!text.includes('linguist-')) return [];
  return text.split('\n').flatMap((line): Rule[] => {
    const [, quoted, plain, rest = ''] = /^\s*(?:"([^"]{1,400})"|([^\s"#][^\s]*))\s+(.*)$/.exec(line) ?? [];
    const pattern = quoted ?? plain;
    // A pattern for a folder matches no file, and macros are not patterns.
    if (pattern === undefined || pattern.length > limits.pattern || /^\[attr\]|^!|\/$/.test(pattern)) return [];
    const attributes = attributesIn(rest);
    return attributes === null ? [] : [{ folder, matches: matcherOf(pattern), attributes }];
  });
}

function attributesIn(text: string): Partial<LinguistAttributes> | null {
  const found: Partial<LinguistAttributes> = {};
  for (const word of text.split(/\s+/)) {
    const [, sign = '', name = '', value] = /^([-!]?)([\w-]+)(?:=(\S*))?$/.exec(word) ?? [];
    if (name === 'linguist-language') found.language = sign === '' && value ? value : null;
    const key = names[name as keyof typeof names] as (typeof names)[keyof typeof names] | undefined;
    if (key === undefined) continue;
    found[key] = sign === '!' ? null : sign === '' && !/^(?:false|0|no)$/i.test(value ?? '');
  }
  return Object.keys(found).length === 0 ? null : found;
}

/** As in gitignore(5): a pattern without a slash matches names in all folders below. */
function matcherOf(pattern: string): Matcher {
  const plain = pattern.replace(/^\//, '');
  if (!pattern.includes('/')) {
    const matches = segmentMatcher(plain);
    return (path) => matches(path.slice(path.lastIndexOf('/') + 1));
  }
  if (/^[^*?[\\]+\/\*\*$/.test(plain)) {
    const folder = plain.slice(0, -2);
    return (path) => path.startsWith(folder);
  }
  const segments = plain.split('/').map((segment) => (segment === '**' ? null : segmentMatcher(segment)));
  return (path) => matchSegments(segments, path.split('/'));
}

/** Null matches any number of folders. Backtracking to the last null alone is sufficient. */
function matchSegments(segments: readonly (Matcher | null)[], parts: readonly string[]): boolean {
  let [at, part, lastDeep, resumeAt] = [0, 0, -1, 0];
  while (part < parts.length) {
    const segment = segments[at];
    if (segment === null) {
      // At the end it matches at least one part.
      if (at === segments.length - 1) return true;
      [lastDeep, resumeAt] = [at, part];
      at += 1;
    } else if (segment?.(parts[part]!)) {
      at += 1;
      part += 1;
    } else if (lastDeep !== -1) {
      resumeAt += 1;
      [at, part] = [lastDeep + 1, resumeAt];
    } else return false;
  }
  return at === segments.length;
}

function segmentMatcher(pattern: string): Matcher {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const ending = /^\*([^*?[\\]+)$/.exec(pattern)?.[1];
  if (ending !== undefined) return (name) => name.endsWith(ending);
  const pieces = piecesOf(pattern);
  return (name) => matchPieces(pieces, name);
}

/** A predicate for one character, or null for `*`. */
type Piece = ((character: string) => boolean) | null;

function piecesOf(pattern: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    const end = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (character === '*') {
      if (pieces.at(-1) !== null) pieces.push(null);
    } else if (character === '?') pieces.push(() => true);
    else if (end !== -1) {
      pieces.push(setOf(pattern.slice(at + 1, end)));
      at = end;
    } else {
      const literal = character === '\\' && at + 1 < pattern.length ? pattern[(at += 1)]! : character;
      pieces.push((given) => given === literal);
    }
  }
  return pieces;
}

function setOf(inside: string): (character: string) => boolean {
  const isNegated = /^[!^]/.test(inside);
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: [from: string, to: string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([members[at]!, isRange ? members[at + 2]! : members[at]!]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== isNegated;
}

function matchPieces(pieces: readonly Piece[], name: string): boolean {
  let [at, index, lastStar, resumeAt] = [0, 0, -1, 0];
  while (index < name.length) {
    const piece = pieces[at];
    if (piece === null) {
      [lastStar, resumeAt] = [at, index];
      at += 1;
    } else if (piece?.(name[index]!)) {
      at += 1;
      index += 1;
    } else if (lastStar !== -1) {
      resumeAt += 1;
      [at, index] = [lastStar + 1, resumeAt];
    } else return false;
  }
  while (pieces[at] === null) at += 1;
  return at === pieces.length;
}

/** Names of generated files: lock files, bundles, source maps and the output of interface compilers. */
const generatedName =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|composer\.lock|Cargo\.lock|Gemfile\.lock|Pipfile\.lock|poetry\.lock|pdm\.lock|uv\.lock|flake\.lock|mix\.lock|pubspec\.lock|Podfile\.lock|Package\.resolved|go\.sum|gradle\.lockfile|\.terraform\.lock\.hcl|gradlew(?:\.bat)?)$|[.-]min\.(?:js|css)$|\.(?:js|mjs|cjs|css|ts)\.map$|\.pb\.(?:go|cc|h|gw\.go)$|_pb2(?:_grpc)?\.pyi?$|_pb\.(?:js|d\.ts)$|\.(?:g|freezed|pb|pbenum|pbjson|pbserver)\.dart$|\.designer\.(?:cs|vb)$|\.g(?:\.i)?\.cs$|_string\.go$|^zz_generated\./i;

/** Whether a file with this name is usually generated. */
export const isUsuallyGenerated = (path: string): boolean =>
  generatedName.test(path.slice(path.lastIndexOf('/') + 1)) || /(?:^|\/)node_modules\//.test(path);
