/**
 * Patterns of code owners files, as in `CODEOWNERS` of other forges: `*` matches anything except a slash, `?` one
 * character except a slash, `**` any folders. A pattern with a slash at the start or inside is relative to the root,
 * any other matches at every depth; a pattern that names a folder includes everything below. Patterns are not converted
 * to regular expressions: matching takes time (length of pattern × length of path).
 */
export interface OwnerPattern {
  /** Whether a path, given by its segments, matches; calls `onSteps` with the number of steps. */
  matches(names: readonly string[], onSteps: (steps: number) => void): boolean;
}

/** Length limit of a pattern in characters. */
const maxLength = 400;

/** Parses a pattern; null for unsupported syntax: negations, classes and regular expressions of other forges. */
export function readOwnerPattern(text: string): OwnerPattern | null {
  if (text === '' || text === '/' || text.length > maxLength || text.startsWith('!')) return null;
  // Gitea and Forgejo accept regular expressions; these characters indicate one, and are rare in file names.
  if (/[[\](){}|^$+]|\.\*|\\(?!\s)/.test(text)) return null;
  const plain = text.replaceAll('\\', '');
  const isFolder = plain.endsWith('/');
  const trimmed = plain.replace(/^\/+|\/+$/g, '');
  const segments = trimmed.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return null;
  const isAnchored = plain.startsWith('/') || segments.length > 1;
  const wanted = isAnchored ? segments : ['**', ...segments];
  const last = wanted.at(-1)!;
  // `docs/*` matches only files of the folder itself; `docs/**` and `docs/` match everything below.
  const isOfFilesAlone = !isFolder && isAnchored && last === '*';
  const [first = ''] = wanted;
  const topFolder = /[*?]/.test(first) ? null : first;
  return {
    matches(names, onSteps) {
      onSteps(1);
      // Most lines of a long file concern another folder.
      if (topFolder !== null && topFolder !== names[0]) return false;
      return matchSegments(wanted, names, { isFolder, isOfFilesAlone }, onSteps);
    },
  };
}

/** Simulates all states at once; a state is the number of matched segments of the pattern. */
function matchSegments(
  wanted: readonly string[],
  names: readonly string[],
  { isFolder, isOfFilesAlone }: { isFolder: boolean; isOfFilesAlone: boolean },
  onSteps: (steps: number) => void,
): boolean {
  const end = wanted.length;
  let states = afterAnyFolders(wanted, new Set([0]));
  for (const [at, name] of names.entries()) {
    // The whole pattern has matched a parent folder.
    if (at > 0 && states.has(end) && !isOfFilesAlone) return true;
    const next = new Set<number>();
    for (const state of states) {
      const segment = wanted[state];
      onSteps(1);
      if (segment === undefined) continue;
      if (segment === '**') {
        next.add(state);
        if (state === end - 1) next.add(end);
      } else if (matchName(segment, name, onSteps)) next.add(state + 1);
    }
    if (next.size === 0) return false;
    states = afterAnyFolders(wanted, next);
  }
  return states.has(end) && !isFolder;
}

/** `**` may match no folder at all, except at the end. */
function afterAnyFolders(wanted: readonly string[], states: Set<number>): Set<number> {
  for (const state of states) if (wanted[state] === '**' && state < wanted.length - 1) states.add(state + 1);
  return states;
}

/** Matches a segment with `*` and `?`; backtracks to the last star. */
function matchName(pattern: string, name: string, onSteps: (steps: number) => void): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  let [at, inName, star, fromStar, steps] = [0, 0, -1, 0, 0];
  while (inName < name.length) {
    steps += 1;
    const character = pattern[at];
    if (character === '*') [star, fromStar, at] = [at, inName, at + 1];
    else if (character !== undefined && (character === '?' || character === name[inName]))
      [at, inName] = [at + 1, inName + 1];
    else if (star !== -1) {
      fromStar += 1;
      [at, inName] = [star + 1, fromStar];
    } else {
      onSteps(steps);
      return false;
    }
  }
  onSteps(steps);
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
