import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness inside modules, so that tests can replay it. */
export interface Random {
  bytes(count: number): Buffer;
  uuid(): string;
}

/** Random bytes are read from the system in blocks, since one system call takes as long as rendering a short page. */
const poolBytes = 4096;
const maxFromPool = 64;
let pool: Buffer = Buffer.alloc(0);

function fromPool(count: number): Buffer {
  if (pool.length < count) pool = randomBytes(poolBytes);
  const taken = Buffer.from(pool.subarray(0, count));
  // Bytes that were handed out are erased from the pool.
  pool.fill(0, 0, count);
  pool = pool.subarray(count);
  return taken;
}

export const systemRandom: Random = {
  bytes: (count) => (count > maxFromPool ? randomBytes(count) : fromPool(count)),
  uuid: () => randomUUID(),
};
