import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness inside rooms, so that tests can replay it. */
export interface Random {
  bytes(count: number): Buffer;
  uuid(): string;
}

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};
