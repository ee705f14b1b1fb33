import { bindDeps } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { VerifyCommits } from '../ports/verify-port.ts';
import { addRule, changeRule, moveRule, orderRules, removeRule, replaceRules } from './edit-rules.ts';
import { decidingRule } from './load-rules.ts';
import {
  findRule,
  fingerprintOf,
  listRules,
  namesDecided,
  protectedDefaults,
  protectedRefs,
  rightsIn,
} from './list-rules.ts';

/** Rules for branches and tags by pattern; `access` decides with them. */
export function createRuleService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    list: bindAt(listRules),
    find: bindAt(findRule),
    add: bindAt(addRule),
    change: bindAt(changeRule),
    remove: bindAt(removeRule),
    move: bindAt(moveRule),
    order: bindAt(orderRules),
    replaceAll: bindAt(replaceRules),
    /** Registers the verifier for rules that require signed commits; until then no commit counts as verified. */
    verifyCommitsWith: (verify: VerifyCommits) => void (deps.verification.verify = verify),
    /** The rule that decides about a branch, as the given connection sees it. No access check. */
    deciding: decidingRule,
    namesDecided: bind(namesDecided),
    rightsIn: bind(rightsIn),
    fingerprint: bind(fingerprintOf),
    protectedRefs: bind(protectedRefs),
    protectedDefaults: bind(protectedDefaults),
  };
}
