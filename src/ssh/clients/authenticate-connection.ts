import type { AuthContext, Connection } from 'ssh2';
import type { KeyViewer } from '../../accounts/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { fingerprint } from '../../openssh/index.ts';
import type { SshLimits } from '../limits.ts';
import type { SshAccounts } from '../deps.ts';
import { keyRefusal, verifySignature } from '../keys/verify-key.ts';

/** The owner of a connection: the account of the key that signed. */
export interface Identity extends KeyViewer {
  /** The public key in wire form; looked up again before each command. */
  blob: Buffer;
}

interface AuthenticationDeps {
  accounts: SshAccounts;
  logger: Logger;
  limits: Pick<SshLimits, 'maxAuthTries'>;
  address: string;
}

interface AuthenticationHandlers {
  signedIn(identity: Identity): void;
  gaveUp(reason: string): void;
}

/** A refused attempt, for the log; clients get no reason. */
interface RefusedAttempt {
  reason: string;
  /** For a public key, its type. */
  method: string;
  fingerprint?: string;
}

/**
 * Limit of authentication requests: queries about known keys do not count as attempts, and no client needs this many.
 */
const maxRequests = 64;

/**
 * Authenticates a connection by public key only (security F01, F02).
 *
 * The username is ignored: the key identifies the account. A client may query several keys in any order; a query is
 * confirmed only for a known key that could sign here, and changes nothing. Only a valid signature calls
 * `handlers.signedIn`, with the owner of the key that signed.
 *
 * @returns the refused attempts; the list grows
 */
export function authenticate(
  connection: Connection,
  deps: AuthenticationDeps,
  handlers: AuthenticationHandlers,
): readonly RefusedAttempt[] {
  const { accounts, logger, limits, address } = deps;
  const refusals: RefusedAttempt[] = [];
  let requests = 0;

  connection.on('authentication', (attempt) => {
    requests += 1;
    void decide(attempt).catch((error: unknown) => {
      // Also when ssh2 detects an invalid sequence of requests.
      logger.warn('ssh.sign_in_failed', { address, error });
      handlers.gaveUp('sign_in_failed');
    });
  });

  return refusals;

  async function decide(attempt: AuthContext): Promise<void> {
    if (requests > maxRequests) return handlers.gaveUp('too_many_requests');
    if (attempt.method !== 'publickey') {
      // Clients begin with "none" to learn the available methods.
      return refuse(attempt, attempt.method === 'none' ? null : 'method_not_offered');
    }
    const owner = await accounts.viewerOfKey(attempt.key.data, { address, hasSigned: false });
    const obstacle = owner === null ? 'unknown_key' : keyRefusal(attempt);
    if (owner === null || obstacle !== null) return refuse(attempt, obstacle);
    if (attempt.signature === undefined) return attempt.accept();
    if (!verifySignature(attempt)) return refuse(attempt, 'bad_signature');
    handlers.signedIn({ ...owner, blob: Buffer.from(attempt.key.data) });
    attempt.accept();
  }

  function refuse(attempt: AuthContext, reason: string | null): void {
    if (reason !== null) {
      const refused = { reason, ...described(attempt) };
      refusals.push(refused);
      logger.debug('ssh.try_refused', { address, ...refused });
    }
    attempt.reject(['publickey']);
    if (refusals.length >= limits.maxAuthTries) handlers.gaveUp('too_many_tries');
  }
}

function described(attempt: AuthContext): Omit<RefusedAttempt, 'reason'> {
  if (attempt.method !== 'publickey') return { method: attempt.method };
  // The algorithm name comes from an anonymous client and can be anything.
  return { method: attempt.key.algo.slice(0, 64), fingerprint: fingerprint(attempt.key.data) };
}
