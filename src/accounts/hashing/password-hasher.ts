import { argon2, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createLru, internal } from '../../kernel/index.ts';
import type { Random } from '../../kernel/index.ts';
import { createHashingLimit } from './hashing-limit.ts';
import { formatPasswordString, isOutdated, parsePasswordString } from './password-string.ts';
import type { PasswordCost, StoredPassword } from './password-string.ts';

const saltBytes = 16;
const hashBytes = 32;
const mostRemembered = 1_000;
const rememberedMs = 5 * 60_000;

/** Operations available while holding a slot. */
interface Hashing {
  /**
   * @returns a PHC string with the current cost
   */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the stored hash. Without a stored hash it still computes one and returns false, so
   * that response times do not reveal who has an account.
   */
  matches(password: string, stored: string | null): Promise<boolean>;
  isOutdated(stored: string): boolean;
}

export interface PasswordHasher {
  /**
   * Runs `work` in one of the hashing slots. Never call this inside a transaction. Throws `unavailable`:
   * `sign_in_busy`.
   */
  inSlot<T>(work: (hashing: Hashing) => Promise<T>): Promise<T>;
  /**
   * Whether this process recently verified the password against this exact stored hash: programs send it with every
   * call, and each would cost a hash. Forgotten after five minutes, and when the password changes.
   */
  remembers(password: string, stored: string | null): boolean;
  /** Records a successful verification. */
  remember(password: string, stored: string): void;
}

interface PasswordHasherOptions {
  cost: PasswordCost;
  atOnce: number;
  waiting: number;
  random: Random;
}

/** argon2id of Node's crypto (RFC 9106). Throws at start on a runtime without it. */
export function createPasswordHasher({ cost, atOnce, waiting, random }: PasswordHasherOptions): PasswordHasher {
  if (typeof argon2 !== 'function')
    throw internal('This Node has no crypto.argon2; Hearth needs the one it is pinned to.');
  const slots = createHashingLimit({ atOnce, waiting });
  const derive = promisify(argon2);

  const compute = (password: string, stored: Pick<StoredPassword, 'cost' | 'salt'>, length: number): Promise<Buffer> =>
    derive('argon2id', {
      message: password,
      nonce: stored.salt,
      memory: stored.cost.memoryKib,
      passes: stored.cost.passes,
      parallelism: stored.cost.parallelism,
      tagLength: length,
    });

  const hashing: Hashing = {
    async hash(password) {
      const salt = random.bytes(saltBytes);
      return formatPasswordString({ cost, salt, hash: await compute(password, { cost, salt }, hashBytes) });
    },

    async matches(password, stored) {
      const known = stored === null ? null : parsePasswordString(stored);
      const { hash, ...parameters } = known ?? { cost, salt: random.bytes(saltBytes), hash: Buffer.alloc(hashBytes) };
      const computed = await compute(password, parameters, hash.length);
      return timingSafeEqual(computed, hash) && known !== null;
    },

    isOutdated: (stored) => isOutdated(stored, cost),
  };

  // The key exists only in this process, so the remembered values reveal nothing.
  const key = random.bytes(32);
  const nameOf = (password: string, stored: string): string =>
    createHmac('sha256', key).update(`${stored}\0${password}`).digest('base64');
  const right = createLru<string, true>({ name: 'passwords', maxWeight: mostRemembered, ttlMs: rememberedMs });
  return {
    inSlot: (work) => slots.run(() => work(hashing)),
    remembers: (password, stored) => stored !== null && right.get(nameOf(password, stored)) === true,
    remember: (password, stored) => right.set(nameOf(password, stored), true),
  };
}
