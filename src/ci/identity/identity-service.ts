import { bindDeps } from '../../kernel/index.ts';
import { bindAudited } from '../audited.ts';
import type { CiDeps } from '../deps.ts';
import { discovery, identityToken } from './identity-token.ts';
import { publicKeys, rotateKey } from './signing-keys.ts';

/** Identity tokens of jobs, and the keys that verify them. */
export function createIdentityService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return {
    token: bind(identityToken),
    /** Null if this server has no public URL. */
    discovery: () => discovery(deps),
    publicKeys: () => publicKeys(deps),
    rotateKey: bindAudited(deps)(
      (deps) => rotateKey(deps),
      () => 'ci.key_rotated',
      () => ({}),
    ),
  };
}
