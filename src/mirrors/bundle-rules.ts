import { ruleActs, teamNameOf, usernamesOf } from '../access/index.ts';
import type { ApproversInput, GrantInput, ListedRule, MergeConditionsInput, NewRule } from '../repositories/index.ts';
import { checkRule } from '../repositories/index.ts';
import { invalid } from '../kernel/index.ts';

/** A rule for branches or tags in an export bundle, with users by username. */
export function exportedRule(rule: ListedRule): NewRule {
  const { target, pattern, linear, signed, grants, merging, named } = rule;
  const all = { ...grants, merge: merging.grant };
  const grant = (act: keyof typeof all): GrantInput => ({
    level: all[act].level,
    tasks: all[act].tasks,
    ...(act !== 'merge' && { deployKeys: all[act].deployKeys }),
    people: usernamesOf(named[act]),
  });
  return {
    target,
    pattern,
    linear,
    signed,
    grants: { push: grant('push'), force: grant('force'), create: grant('create'), delete: grant('delete') },
    ...(target === 'BRANCH' && {
      merging: { ...merging, grant: grant('merge'), approvers: approversOf(rule), upToDate: upToDateOf(merging) },
    }),
  };
}

/** By name; a team without its organisation. */
const approversOf = ({ merging, named, teams }: ListedRule): ApproversInput =>
  merging.approvers === null
    ? { isOn: false }
    : {
        isOn: true,
        people: usernamesOf(named.approve),
        teams: teams.approve.map(teamNameOf),
      };

/**
 * Reads the rules in a bundle's description; undefined for a bundle of a version without rules. Throws
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
  const { target, pattern, linear, signed, grants, merging } = value as Fields;
  const rule: NewRule = {
    target: String(target),
    pattern: String(pattern),
    linear: linear === true,
    signed: signed === true,
    grants: Object.fromEntries(ruleActs.map((act) => [act, readGrant((grants as Fields)[act] as Fields)])),
    // Bundles of versions without pull requests have no merge settings.
    ...(merging !== undefined && { merging: readMerging(merging as Fields) }),
  };
  checkRule(rule);
  return rule;
}

const readMerging = ({
  grant,
  approvals,
  approvalsSurvive,
  checks,
  styles,
  ...switches
}: Fields): MergeConditionsInput => ({
  grant: readGrant(grant as Fields),
  approvals: Number(approvals),
  approvers: readApprovers(switches['approvers'] as Fields | undefined),
  approvalsSurvive: String(approvalsSurvive),
  checks: (checks as unknown[]).map(String),
  styles: (styles as unknown[]).map(String),
  ownersApprove: switches['ownersApprove'] === true,
  threadsResolved: switches['threadsResolved'] === true,
  upToDate: switches['upToDate'] === 'queue' ? 'queue' : switches['upToDate'] === true,
  adminsToo: switches['adminsToo'] === true,
});

// Older bundles name no approvers.
const readApprovers = ({ isOn, people, teams }: Fields = {}): ApproversInput =>
  isOn === true
    ? { isOn, people: (people as unknown[]).map(String), teams: (teams as unknown[]).map(String) }
    : { isOn: false };

// Older bundles have no deploy keys.
const readGrant = ({ level, people, tasks, deployKeys }: Fields): GrantInput => ({
  level: String(level),
  people: (people as unknown[]).map(String),
  tasks: tasks === true,
  deployKeys: deployKeys === undefined ? level === 'write' : deployKeys === true,
});

/** A boolean that bundles of versions without merge queues lack. */
const upToDateOf = ({ upToDate }: { upToDate: string }): boolean | 'queue' =>
  upToDate === 'queue' ? 'queue' : upToDate === 'yes';
