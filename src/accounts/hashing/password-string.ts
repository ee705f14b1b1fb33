/** Stored passwords are PHC strings, which contain the parameters, so hashes with an older cost stay verifiable. */

/** The cost of one argon2id hash. */
export interface PasswordCost {
  memoryKib: number;
  passes: number;
  parallelism: number;
}

export interface StoredPassword {
  cost: PasswordCost;
  salt: Buffer;
  hash: Buffer;
}

const pattern =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,6}),t=([1-9]\d{0,2}),p=([1-9]\d{0,1})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/;

/** PHC strings use base64 without padding. */
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

export function formatPasswordString({ cost, salt, hash }: StoredPassword): string {
  const { memoryKib, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Parses a PHC string of argon2id version 19. `null` for anything else, so that a damaged row matches no password. */
export function parsePasswordString(text: string): StoredPassword | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, memory, passes, parallelism, salt, hash] = match as unknown as string[];
  const cost = { memoryKib: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  if (cost.memoryKib < 8 * cost.parallelism) return null;
  return { cost, salt: Buffer.from(salt!, 'base64'), hash: Buffer.from(hash!, 'base64') };
}

/** Whether a stored password has another cost than the current one. */
export function isOutdated(text: string, current: PasswordCost): boolean {
  const stored = parsePasswordString(text);
  if (stored === null) return true;
  const { memoryKib, passes, parallelism } = stored.cost;
  return memoryKib !== current.memoryKib || passes !== current.passes || parallelism !== current.parallelism;
}
