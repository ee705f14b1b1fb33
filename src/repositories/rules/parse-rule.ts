import { defaultBranchPattern, maxPatternLength, readRefPattern, ruleLevels } from '../../access/index.ts';
import type { PatternFault, RuleLevel, RuleTarget } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';

const faults: Readonly<Record<PatternFault, string>> = {
  empty: 'Say which names the rule is for.',
  too_long: `A pattern has at most ${maxPatternLength} characters.`,
  characters: 'This has characters that no branch or tag name has.',
  alternatives: 'Braces hold alternatives like {a,b}, not in each other, and 32 in all at most.',
};

/** Characters that reorder text: a pattern must look like what it matches. */
const reorders = /[\x80-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Parses the pattern of a rule. Throws `invalid_pattern`. */
export function parsePattern(text: string, target: RuleTarget): string {
  const pattern = text.trim();
  if (pattern === defaultBranchPattern && target === 'BRANCH') return pattern;
  const read = readRefPattern(pattern);
  const fault = typeof read === 'string' ? read : reorders.test(pattern) ? 'characters' : null;
  if (fault === null) return pattern;
  throw invalid('invalid_pattern', faults[fault], { field: 'pattern' });
}

/** Parses who may perform an action. Throws `invalid_rule_level`. */
export function parseLevel(text: string, field: string): RuleLevel {
  const level = ruleLevels.find((known) => known === text.trim().toLowerCase());
  if (level !== undefined) return level;
  throw invalid('invalid_rule_level', 'Choose write, admin, owner or nobody.', { field });
}

/** Parses `branch` or `tag`. Throws `invalid_rule_target`. */
export function parseTarget(text: string): RuleTarget {
  const target = text.trim().toUpperCase();
  if (target === 'BRANCH' || target === 'TAG') return target;
  throw invalid('invalid_rule_target', 'A rule must apply to either branches or tags.', { field: 'target' });
}

/** Whether a text is a pattern rather than a single name. */
export function isManyNames(pattern: string): boolean {
  if (pattern === defaultBranchPattern) return false;
  const read = readRefPattern(pattern);
  return typeof read !== 'string' && !read.isExact;
}
