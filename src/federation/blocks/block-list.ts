import { In } from 'typeorm';
import type { Database } from '../../db/index.ts';
import { blockSchema } from '../schema/block-schema.ts';

/** Blocked servers and actors; read on each use, since a command in another process may have added one. */
export interface BlockList {
  hasHost(hostname: string): Promise<boolean>;
  hasActor(id: string): Promise<boolean>;
}

const mostLabels = 20;

export function createBlockList({ db }: { db: Database }): BlockList {
  return {
    hasHost: (hostname) => db.read.existsBy(blockSchema, { kind: 'host', value: In(namesOf(hostname)) }),
    hasActor: (id) => db.read.existsBy(blockSchema, { kind: 'actor', value: id }),
  };
}

/** A host name and its parent domains: `a.example.org`, `example.org`, `org`. */
export function namesOf(hostname: string): string[] {
  const labels = hostname.replace(/\.$/, '').split('.');
  return labels.map((_, index) => labels.slice(index).join('.')).slice(-mostLabels);
}
