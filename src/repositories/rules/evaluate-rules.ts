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

/** Result of the repository's rules for the commands of a push. */
export interface RuleEvaluation {
  /** Refused commands, each with a line for the user who pushes. */
  refused: RefusedRef[];
  /** Refs that allow only fast-forwards; checked on the objects. */
  onlyForward: FastForwardRule[];
  /** Refs that forbid merge commits; checked on the objects. */
  linear: LinearRule[];
  /** Refs that require verified signatures on commits; checked on the objects. */
  signed: SignedRule[];
}

const tooManyRefs = 'too many refs for the rules of this repository; push in parts';

/**
 * Evaluates the repository's rules for commands, as the given source sees them. Deletions are visible in the command.
 * Fast-forwards and merges are visible only in the objects, most of which have not arrived yet, so the git module
 * checks them.
 * @param source the connection to read from
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
