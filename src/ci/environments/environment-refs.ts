import { readRefPattern } from '../../access/index.ts';
import type { PatternFault } from '../../access/index.ts';
import type { EnvironmentRefRow, EnvironmentRow } from '../schema/environment-schema.ts';

type Patterns = readonly Pick<EnvironmentRefRow, 'kind' | 'pattern'>[];

/**
 * Whether a ref may deploy. The ref of a pull request is neither a branch nor a tag: only patterns that begin with
 * `refs/` match it.
 * @param ref full name: `refs/heads/main`
 */
export function allowsRef(
  { refPolicy }: Pick<EnvironmentRow, 'refPolicy'>,
  patterns: Patterns,
  ref: string,
  isProtected: (ref: string) => boolean,
): boolean {
  if (refPolicy === 'all') return true;
  if (refPolicy === 'protected') return isProtected(ref);
  return patterns.some(({ kind, pattern }) => {
    const compiled = readRefPattern(pattern);
    if (typeof compiled === 'string') return false;
    if (pattern.startsWith('refs/')) return compiled.matches(ref);
    const folder = kind === 'tag' ? 'refs/tags/' : 'refs/heads/';
    return ref.startsWith(folder) && compiled.matches(ref.slice(folder.length));
  });
}

/** Explains in one sentence why a pattern is invalid; null for a valid one. */
export function faultOfPattern(pattern: string): string | null {
  const compiled = readRefPattern(pattern);
  return typeof compiled === 'string' ? sentences[compiled] : null;
}

const sentences: Record<PatternFault, string> = {
  empty: 'The pattern is empty.',
  too_long: 'The pattern is too long.',
  characters: 'The pattern has characters that no name of a branch or a tag has.',
  alternatives: 'The braces of the pattern do not close, stand in each other, or make too many patterns.',
};
