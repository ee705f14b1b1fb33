import { In } from 'typeorm';
import { idsIn, selectRows } from '../../db/index.ts';
import type { KeyOwner } from '../../accounts/index.ts';
import type { SigningDeps } from '../deps.ts';
import { openPgpLimits } from '../limits.ts';
import { gpgKeyPartSchema, gpgKeySchema } from '../schema/gpg-key-schema.ts';
import { instanceSigningKeySchema } from '../schema/instance-key-schema.ts';
import type { ReadSignature } from './read-signatures.ts';

/** A person named on a page. */
export interface Named {
  id: string;
  username: string;
}

/** An OpenPGP key that a signature may be of. */
export interface SignerKey {
  id: string;
  owner: Named;
  fingerprint: string;
  /** Ids of the parts that may sign. */
  keyIds: string[];
  /** Whether a user id of the key is a verified address of the owner. */
  isOwn: boolean;
  /** Changes with the stored copy. */
  updatedAt: number;
  expiresAt: number | null;
}

/** What the database knows of the keys and addresses of signatures: plain data, which a cached page compares. */
export interface Signers {
  ssh: KeyOwner[];
  gpg: SignerKey[];
  instance: { fingerprint: string; retiredAt: number | null }[];
  /** Owners of verified addresses of committers. */
  addresses: [address: string, owner: Named][];
}

/** Looks up the keys and addresses that signatures name, in five queries at most. */
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

/** The keys of people who are there and not disabled, in the order in which they were added. */
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
