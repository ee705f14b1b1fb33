import { Writable } from 'node:stream';
import { systemRandom } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';
import { networkPrefix } from '../kernel/index.ts';
import { createConnectionLimiter } from './connection-limiter.ts';
import type { ConnectionSlot } from './connection-limiter.ts';
import { defaultLimits } from './limits.ts';
import type { SshLimits } from './limits.ts';
import { parseCommand } from './commands/parse-command.ts';
import type { Command } from './commands/parse-command.ts';
import type { SshAccounts, SshDeps } from './deps.ts';
import { runCommand } from './commands/run-command.ts';
import type { Session } from './commands/session.ts';

export interface SystemSshdNeeds extends Omit<SshDeps, 'random' | 'accounts'> {
  accounts: SshAccounts & {
    /** The key with this id in wire form; null if it does not exist. */
    keyBlob(keyId: string): Promise<Buffer | null>;
  };
  random?: Random;
  limits?: Partial<SshLimits>;
}

/** One session of the system's sshd, as passed by its forced command; the git protocol version is not validated yet. */
interface ForwardedSession extends Session {
  /** Id of the key that sshd accepted. */
  keyId: string;
  /** `SSH_ORIGINAL_COMMAND`; empty if no command was given. */
  command: string;
}

/** git over the system's OpenSSH server, which also supports keys on security tokens. */
interface SystemSshd {
  /**
   * The id of a key that may sign in, null for any other. sshd asks before the client has signed anything, so this is
   * not recorded as a use of the key.
   */
  keyId(type: string, base64: string): Promise<string | null>;
  /** Serves one session as the built-in server would; resolves with its exit status, never rejects. */
  serve(session: ForwardedSession): Promise<number>;
}

const gitProtocol = /^version=[012]$/;
const keyType = /^(?:sk-)?(?:ssh|ecdsa)-[\w.@-]+$/;

/** The same commands, access policy, journal and limits per address as the built-in server. */
export function createSystemSshd(needs: SystemSshdNeeds): SystemSshd {
  const deps: SshDeps = { ...needs, random: needs.random ?? systemRandom };
  const { accounts, logger, clock } = needs;
  const limits: SshLimits = { ...defaultLimits, ...needs.limits };
  const limiter = createConnectionLimiter({ limits, now: () => performance.now() });

  async function run(
    session: ForwardedSession,
    blob: Buffer,
    signal: AbortSignal,
    stalled: () => void,
  ): Promise<number> {
    const startedAt = clock.now();
    const command: Command | null = session.command === '' ? { kind: 'greet' } : parseCommand(session.command);
    const protocol = session.protocol !== null && gitProtocol.test(session.protocol) ? session.protocol : null;
    const output = watched(session.output, limits.stallMs, stalled);
    const { address, port, input, writeError, moved, keyId } = session;
    const exitCode = await runCommand(deps, command, {
      blob,
      address,
      port,
      protocol,
      input,
      output,
      writeError,
      moved,
      signal,
    });
    await new Promise<void>((resolve) => output.end(() => resolve()).once('error', () => resolve()));
    logger.info('ssh.command', {
      address,
      keyId,
      via: 'sshd',
      command: command?.kind ?? 'not understood',
      exitCode,
      aborted: signal.aborted,
      ms: clock.now() - startedAt,
    });
    return exitCode;
  }

  return {
    async keyId(type, base64) {
      if (!keyType.test(type) || type.length > 64 || base64.length > 16_384) return null;
      const blob = Buffer.from(base64, 'base64');
      return (await accounts.viewerOfKey(blob, { address: null, hasSigned: false }))?.keyId ?? null;
    },

    async serve(session) {
      const blob = await accounts.keyBlob(session.keyId);
      if (blob === null) {
        session.writeError('hearth: This key is no longer accepted.\n');
        return 1;
      }
      // A command without an owner fails when it runs, with the right message.
      const owner = await accounts.viewerOfKey(blob, { address: null, hasSigned: false });
      const leaving = new AbortController();
      const signal = AbortSignal.any([session.signal, leaving.signal]);
      const slot = await enter(limiter, networkPrefix(session.address), signal);
      if (slot === null) {
        session.writeError('hearth: too many sessions from your address. Try again in a moment.\n');
        return 1;
      }
      if (!slot.signedIn(owner?.viewer.id ?? session.keyId)) {
        session.writeError('hearth: too many sessions of your account. Try again later.\n');
        return 1;
      }
      slot.setBusy(true);
      try {
        return await run(session, blob, signal, () => leaving.abort(new Error('the client does not read')));
      } finally {
        slot.leave();
      }
    },
  };
}

/** Waits for a connection slot; null if it is refused or the client leaves the queue. */
function enter(
  limiter: ReturnType<typeof createConnectionLimiter>,
  address: string,
  signal: AbortSignal,
): Promise<ConnectionSlot | null> {
  return new Promise((resolve) => {
    let isIn = false;
    const slot: ConnectionSlot = limiter.arrive({
      address,
      // May be called before `slot` is assigned.
      begin: () => {
        isIn = true;
        queueMicrotask(() => resolve(slot));
      },
      reject: () => resolve(null),
    });
    signal.addEventListener(
      'abort',
      () => {
        if (isIn) return;
        slot.leave();
        resolve(null);
      },
      { once: true },
    );
  });
}

/** As in the built-in server: a client that reads nothing for `stallMs` while output is pending is disconnected. */
function watched(target: Writable, stallMs: number, onStall: () => void): Writable {
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const stall = setTimeout(onStall, stallMs);
      target.write(chunk, (error) => {
        clearTimeout(stall);
        done(error);
      });
    },
  });
  target.once('close', () => output.destroy());
  output.on('error', () => {});
  return output;
}
