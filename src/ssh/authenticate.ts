import type { AuthContext, Connection } from 'ssh2';
import type { KeyViewer } from '../accounts/index.ts';
import type { Logger } from '../kernel/index.ts';
import { fingerprint } from './host-key.ts';
import type { SshLimits } from './limits.ts';
import type { SshAccounts } from './rooms.ts';
import { keyObstacle, provesKey } from './verify-key.ts';

/** Who a connection belongs to: somebody who signed with the private half of this key. */
export interface Identity extends KeyViewer {
  /** The public key in wire form; asked about again before each command. */
  blob: Buffer;
}

interface Needs {
  accounts: SshAccounts;
  logger: Logger;
  limits: Pick<SshLimits, 'loginTries'>;
  address: string;
}

interface Outcome {
  signedIn(identity: Identity): void;
  gaveUp(reason: string): void;
}

/** Questions about known keys cost no try, but nobody has a reason to ask for ever. */
const maxRequests = 64;

/**
 * Signs a connection in by public key and by nothing else (security §2.2, F01, F02).
 *
 * The user name does not matter: the key says who it is. A client may ask about
 * several keys in any order; a question is answered with yes only for a known key
 * that could sign here, and changes nothing. Only a signature that fits makes
 * `outcome.signedIn` run, with the owner of the very key that signed.
 */
export function authenticate(connection: Connection, needs: Needs, outcome: Outcome): void {
  const { accounts, logger, limits, address } = needs;
  let requests = 0;
  let refused = 0;

  connection.on('authentication', (attempt) => {
    requests += 1;
    void decide(attempt).catch((error: unknown) => {
      // Also when ssh2 finds that a client mixed up its own requests.
      logger.warn('ssh.sign_in_failed', { address, error });
      outcome.gaveUp('sign_in_failed');
    });
  });

  async function decide(attempt: AuthContext): Promise<void> {
    if (requests > maxRequests) return outcome.gaveUp('too_many_requests');
    if (attempt.method !== 'publickey') {
      // Clients begin with "none" to learn which methods there are.
      return refuse(attempt, attempt.method === 'none' ? null : 'method_not_offered');
    }
    const owner = await accounts.viewerOfKey(attempt.key.data, { address, proven: false });
    const obstacle = owner === null ? 'unknown_key' : keyObstacle(attempt);
    if (owner === null || obstacle !== null) return refuse(attempt, obstacle);
    if (attempt.signature === undefined) return attempt.accept();
    if (!provesKey(attempt)) return refuse(attempt, 'bad_signature');
    outcome.signedIn({ ...owner, blob: Buffer.from(attempt.key.data) });
    attempt.accept();
  }

  function refuse(attempt: AuthContext, reason: string | null): void {
    if (reason !== null) {
      refused += 1;
      logger.info('ssh.key_refused', { address, reason, ...described(attempt) });
    }
    attempt.reject(['publickey']);
    if (refused >= limits.loginTries) outcome.gaveUp('too_many_tries');
  }
}

function described(attempt: AuthContext): Record<string, string> {
  if (attempt.method !== 'publickey') return { method: attempt.method };
  // Both come from somebody unknown; the name of an algorithm can be anything.
  return { type: attempt.key.algo.slice(0, 64), fingerprint: fingerprint(attempt.key.data) };
}
