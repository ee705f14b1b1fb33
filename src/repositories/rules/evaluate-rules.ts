import type { EntityManager } from 'typeorm';
import { judgeRefMove, RuleSet, TooManyRefs } from '../../access/index.ts';
import type { RefMoveKind, Viewer } from '../../access/index.ts';
import type { FastForwardRule, LinearRule, RefusedRef, SignedRule } from '../../git/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { repositoryFacts } from '../find-repository.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { loadRules } from './load-rules.ts';
import { mergesRefused, mergesUnknown, refusalByRule, signaturesUnknown, unsignedRefused } from './describe-rule.ts';
import { noRef } from '../../kernel/index.ts';

/** What the rules of a repository say of the commands of a push. */
export interface RuleEvaluation {
  /** Refused commands, each with a line for the person who pushes. */
  refused: RefusedRef[];
  /** Refs that may only be fast-forwarded; decided by the objects. */
  onlyForward: FastForwardRule[];
  /** Refs that take no merge commit; decided by the objects. */
  linear: LinearRule[];
  /** Refs that take only commits with a verified signature; decided by the objects. */
  signed: SignedRule[];
}

const tooManyRefs = 'too many refs for the rules of this repository; push in parts';

/**
 * Asks the rules of a repository about commands, by what the write sees. A deletion shows in the command. Whether a
 * move is a fast-forward, and whether it brings merges, shows in the objects, most of which have not arrived yet: that
 * is left to the git module.
 * @param source what the write reads by
 */
export async function evaluateRules(
  deps: Pick<RepositoryDeps, 'organisations'>,
  source: EntityManager,
  viewer: Viewer,
  repository: Repository,
  updates: readonly { ref: string; oldId: string; newId: string }[],
): Promise<RuleEvaluation> {
  const judged: RuleEvaluation = { refused: [], onlyForward: [], linear: [], signed: [] };
  const personId = viewer.kind === 'person' ? viewer.id : null;
  const [rules, facts] = await Promise.all([
    loadRules(source, repository.id),
    repositoryFacts(deps, source, personId, repository),
  ]);
  const book = new RuleSet(rules, repository.defaultBranch);
  const defaultRef = `refs/heads/${repository.defaultBranch}`;
  for (const { ref, oldId, newId } of updates) {
    const isDefaultBranch = ref === defaultRef;
    if (rules.length === 0 && !isDefaultBranch) continue;
    const kind: RefMoveKind = noRef.test(newId) ? 'delete' : noRef.test(oldId) ? 'create' : 'update';
    const rule = ruleFor(book, ref);
    const verdict = rule === 'unknown' ? null : judgeRefMove(viewer, facts, rule, { kind, isDefaultBranch });
    if (verdict === null || rule === 'unknown') judged.refused.push({ ref, reason: tooManyRefs });
    else if (verdict.refusal === 'default_branch') {
      const reason = `${repository.defaultBranch} is the default branch and cannot be deleted; choose another one first`;
      judged.refused.push({ ref, reason });
    } else if (rule !== null && verdict.refusal !== null) {
      judged.refused.push({ ref, reason: refusalByRule(rule, verdict.refusal) });
    } else if (rule !== null && verdict.refusal === null) {
      if (verdict.onlyForward) judged.onlyForward.push({ ref, reason: refusalByRule(rule, 'force') });
      if (verdict.linear) judged.linear.push({ ref, reason: mergesRefused(rule), unknown: mergesUnknown(rule) });
      const reason = (oid: string, why: string): string => unsignedRefused(rule, oid, why);
      if (verdict.signed) judged.signed.push({ ref, reason, unknown: signaturesUnknown(rule) });
    }
  }
  return judged;
}

function ruleFor<Rule>(book: { ruleFor(ref: string): Rule | null }, ref: string): Rule | null | 'unknown' {
  try {
    return book.ruleFor(ref);
  } catch (error) {
    if (error instanceof TooManyRefs) return 'unknown';
    throw error;
  }
}
