import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness inside rooms, so that tests can replay it. */
export interface Random {
  bytes(count: number): Buffer;
  uuid(): string;
}

/** One question to the system costs as much as a short page; its answer serves many small ones. */
const poolBytes = 4096;
const maxFromPool = 64;
let pool: Buffer = Buffer.alloc(0);

function fromPool(count: number): Buffer {
  if (pool.length < count) pool = randomBytes(poolBytes);
  const taken = Buffer.from(pool.subarray(0, count));
  // What was handed out is nowhere else.
  pool.fill(0, 0, count);
  pool = pool.subarray(count);
  return taken;
}

export const systemRandom: Random = {
  bytes: (count) => (count > maxFromPool ? randomBytes(count) : fromPool(count)),
  uuid: () => randomUUID(),
};
