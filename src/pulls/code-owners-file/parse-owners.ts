import { limits } from '../limits.ts';
import { readOwnerPattern } from './owner-pattern.ts';
import type { OwnerPattern } from './owner-pattern.ts';

/** A line of a code owners file. */
export interface OwnerRule {
  /** From 1. */
  line: number;
  /** As written in the file. */
  text: string;
  pattern: OwnerPattern;
  /** `@name`, `@organisation`, `@organisation/team` or e-mail addresses as written; empty for files without owners. */
  owners: string[];
}

/** Reason why part of the code owners file has no effect. It blocks nothing. */
export interface OwnersFault {
  /** Null for the file as a whole. */
  line: number | null;
  /** The pattern, or the owner. */
  text: string;
  kind: 'pattern' | 'section' | 'owner' | 'unknown_owner' | 'may_not_write' | 'too_many' | 'too_large';
}

/** Parses a code owners file; unreadable parts become faults. @param text at most `limits.ownersFileBytes` */
export function parseOwners(text: string): { rules: OwnerRule[]; faults: OwnersFault[] } {
  const rules: OwnerRule[] = [];
  const faults: OwnersFault[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const words = wordsOf(line);
    const [pattern, ...given] = words;
    if (pattern === undefined) continue;
    const number = index + 1;
    const fault = (kind: OwnersFault['kind'], what: string): void => {
      faults.push({ line: number, text: what.slice(0, 200), kind });
    };
    if (/^\^?\[/.test(pattern)) {
      fault('section', line.trim());
      continue;
    }
    const read = readOwnerPattern(pattern);
    if (read === null) {
      fault('pattern', pattern);
      continue;
    }
    if (rules.length === limits.ownerRules) {
      fault('too_many', pattern);
      break;
    }
    const owners = given.filter((owner) => isOwner(owner) || void fault('owner', owner));
    if (owners.length > limits.ownersPerRule) fault('too_many', owners[limits.ownersPerRule]!);
    // A line whose owners are all unreadable must not override an earlier line.
    if (given.length > 0 && owners.length === 0) continue;
    rules.push({ line: number, text: pattern, pattern: read, owners: owners.slice(0, limits.ownersPerRule) });
  }
  return { rules, faults: faults.slice(0, limits.ownerFaults) };
}

const isOwner = (text: string): boolean =>
  text.length <= 254 &&
  (/^@[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/.test(text) || /^[^@\s]+@[^@\s]+$/.test(text));

/** Splits at blanks that no backslash escapes; a number sign starts a comment. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]!;
    if (character === '\\' && at + 1 < line.length) {
      word += character + line[at + 1]!;
      at += 1;
    } else if (character === ' ' || character === '\t' || character === '\r') {
      if (word !== '') words.push(word);
      word = '';
    } else if (character === '#' && word === '') return words;
    else word += character;
  }
  if (word !== '') words.push(word);
  return words;
}
