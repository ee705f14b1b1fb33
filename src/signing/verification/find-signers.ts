import { In } from 'typeorm';
import { idsIn, selectRows } from '../../db/index.ts';
import type { KeyOwner } from '../../accounts/index.ts';
import type { SigningDeps } from '../deps.ts';
import { openPgpLimits } from '../limits.ts';
import { gpgKeyPartSchema, gpgKeySchema } from '../schema/gpg-key-schema.ts';
import { instanceSigningKeySchema } from '../schema/instance-key-schema.ts';
import type { ReadSignature } from './read-signatures.ts';

/** A user named on a page. */
export interface Named {
  id: string;
  username: string;
}

/** An OpenPGP key that may have made a signature. */
export interface SignerKey {
  id: string;
  owner: Named;
  fingerprint: string;
  /** Key ids of the parts that can sign. */
  keyIds: string[];
  /** Whether a user id of the key is a verified address of its owner. */
  isOwn: boolean;
  /** Changes whenever the stored copy does. */
  updatedAt: number;
  expiresAt: number | null;
}

/** Keys and addresses of signatures in the database, as plain data that cached pages compare. */
export interface Signers {
  ssh: KeyOwner[];
  gpg: SignerKey[];
  instance: { fingerprint: string; retiredAt: number | null }[];
  /** Owners of the verified addresses of committers. */
  addresses: [address: string, owner: Named][];
}

/** Looks up the keys and addresses that signatures name, in at most five queries. */
export async function findSigners(deps: SigningDeps, signatures: readonly ReadSignature[]): Promise<Signers> {
  const good = signatures.flatMap(({ ssh }) => (ssh?.isGood ? [ssh.fingerprint] : []));
  const keyIds = [...new Set(signatures.flatMap(({ keyId }) => keyId ?? []))];
  const [ssh, instance, gpg] = await Promise.all([
    good.length === 0 ? [] : deps.accounts.keyHolders(good),
    good.length === 0 ? [] : deps.db.read.findBy(instanceSigningKeySchema, { fingerprint: In([...new Set(good)]) }),
    findGpgKeys(deps, keyIds),
  ]);
  if (ssh.length === 0 && gpg.length === 0)
    return { ssh, gpg: [], instance: instance.map(instanceFacts), addresses: [] };
  const asked = [...signatures.map(({ address }) => address), ...gpg.flatMap(({ addresses }) => addresses)];
  const owners = await deps.accounts.addresses.peopleByAddress(asked);
  const ownerOf = (address: string): Named | null => {
    const person = owners.get(address);
    return person?.username ? { id: person.id, username: person.username } : null;
  };
  return {
    ssh,
    instance: instance.map(instanceFacts),
    gpg: gpg.map(({ addresses, ...key }) => ({
      ...key,
      isOwn: addresses.some((address) => ownerOf(address)?.id === key.owner.id),
    })),
    addresses: [...new Set(signatures.map(({ address }) => address))].flatMap((address) => {
      const owner = ownerOf(address);
      return owner === null ? [] : [[address, owner] satisfies [string, Named]];
    }),
  };
}

const instanceFacts = ({ fingerprint, retiredAt }: { fingerprint: string; retiredAt: number | null }) => ({
  fingerprint,
  retiredAt,
});

type FoundKey = Omit<SignerKey, 'isOwn'> & { addresses: string[] };

/** Keys of existing users who are not disabled, in order of creation. */
async function findGpgKeys({ db, accounts }: SigningDeps, keyIds: readonly string[]): Promise<FoundKey[]> {
  if (keyIds.length === 0) return [];
  const [among, parameters] = idsIn('p.key_id', keyIds);
  const parts = await selectRows(
    db.read,
    gpgKeyPartSchema,
    `SELECT p.* FROM gpg_key_parts p WHERE ${among} LIMIT ${openPgpLimits.keysPerPage}`,
    parameters,
  );
  if (parts.length === 0) return [];
  const rows = await db.read.find(gpgKeySchema, {
    select: {
      id: true,
      userId: true,
      fingerprint: true,
      addresses: true,
      createdAt: true,
      updatedAt: true,
      expiresAt: true,
    },
    where: { id: In([...new Set(parts.map(({ gpgKeyId }) => gpgKeyId))]) },
  });
  const people = await accounts.peopleById(rows.map(({ userId }) => userId));
  return rows
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .flatMap(({ id, userId, fingerprint, addresses, updatedAt, expiresAt }) => {
      const person = people.get(userId);
      if (!person?.username || person.disabledAt !== null) return [];
      return [
        {
          id,
          owner: { id: userId, username: person.username },
          fingerprint,
          keyIds: parts.flatMap((part) => (part.gpgKeyId === id ? [part.keyId] : [])).sort(),
          addresses,
          updatedAt,
          expiresAt,
        },
      ];
    });
}
