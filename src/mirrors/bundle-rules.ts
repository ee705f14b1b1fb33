import { ruleActs } from '../access/index.ts';
import type { GrantInput, ListedRule, NewRule } from '../repositories/index.ts';
import { checkRule } from '../repositories/index.ts';
import { invalid } from '../kernel/index.ts';

/** A rule for branches or tags as an export bundle has it: people by their handles. */
export function exportedRule({ target, pattern, linear, grants, named }: ListedRule): NewRule {
  const grant = (act: (typeof ruleActs)[number]): GrantInput => ({
    level: grants[act].level,
    tasks: grants[act].tasks,
    people: named[act].flatMap(({ person }) => person.username ?? []),
  });
  return {
    target,
    pattern,
    linear,
    grants: { push: grant('push'), force: grant('force'), create: grant('create'), delete: grant('delete') },
  };
}

/**
 * Reads the rules in a bundle's description; undefined for a bundle from before there were any. Refuses
 * `parcel_unreadable`.
 */
export function readRules(value: unknown): NewRule[] | undefined {
  if (value === undefined) return undefined;
  try {
    if (Array.isArray(value)) return value.map(readRule);
  } catch {
    // Treated as an unknown value.
  }
  throw invalid('parcel_unreadable', 'The branch rules in this bundle cannot be read.');
}

type Fields = Record<string, unknown>;

function readRule(value: unknown): NewRule {
  const { target, pattern, linear, grants } = value as Fields;
  const rule: NewRule = {
    target: String(target),
    pattern: String(pattern),
    linear: linear === true,
    grants: Object.fromEntries(ruleActs.map((act) => [act, readGrant((grants as Fields)[act] as Fields)])),
  };
  checkRule(rule);
  return rule;
}

const readGrant = ({ level, people, tasks }: Fields): GrantInput => ({
  level: String(level),
  people: (people as unknown[]).map(String),
  tasks: tasks === true,
});
