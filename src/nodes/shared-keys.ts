import { rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';
import { decrypt, encrypt, reencrypt } from '../sealing/index.ts';
import type { InstanceKey } from '../sealing/index.ts';

const use = 'shared keys';
/** The name of the row with the print of the instance key itself. */
const instanceKeyName = 'instance';

interface SharedKey {
  /** Public: tells keys apart. */
  print: string;
  /** The private key. */
  secret: string;
}

/** Keys that all nodes of a database present as one: rows, sealed with the instance key. */
export interface SharedKeys {
  /** Whether other processes can serve this database. */
  isShared: boolean;
  /**
   * The secret that is kept under a name; `own`, kept from now on, where there is none.
   * Throws `shared_key_unreadable` when the instance key cannot open it.
   */
  agree(name: string, own: SharedKey): Promise<string>;
  /** The secret that is kept under a name, or null. Throws `shared_key_unreadable`. */
  find(name: string): Promise<string | null>;
  /** Replaces the secret of a name. */
  keep(name: string, key: SharedKey): Promise<void>;
  /** The print of the instance key that has sealed what the database contains; null when none was kept. */
  instancePrint(): Promise<string | null>;
  /**
   * Keeps the first of the prints unless there is one that none of them equals.
   * @param prints of the keys in the file, the one in use first
   * @returns whether the database knows one of them
   */
  agreeOnInstance(prints: readonly string[]): Promise<boolean>;
  /** Forgets all of them, for an instance key that is lost. @returns how many there were */
  forget(): Promise<number>;
  /** After a rotation of the instance key: seals the secrets again. @returns how many */
  reencrypt(): Promise<number>;
}

interface SharedKeyRow {
  name: string;
  print: string;
  sealed: string | null;
}

export function createSharedKeys({
  db,
  random,
  instanceKey,
}: {
  db: Database;
  random: Random;
  instanceKey: InstanceKey;
}): SharedKeys {
  const seal = (name: string, secret: string): string => encrypt(instanceKey.for(use), random, name, secret);
  function open({ name, sealed }: SharedKeyRow): string {
    const secret = decrypt(instanceKey.decrypting(use), name, sealed ?? '');
    if (secret === null) throw unreadable(name);
    return secret;
  }
  const rowOf = async (name: string): Promise<SharedKeyRow | undefined> =>
    (await rows<SharedKeyRow>(db.read, 'SELECT name, print, sealed FROM shared_keys WHERE name = ?', [name]))[0];

  return {
    isShared: db.node !== null,
    async find(name) {
      const row = await rowOf(name);
      return row === undefined ? null : open(row);
    },
    async agree(name, { print, secret }) {
      const sealed = seal(name, secret);
      const [kept = null] = await db.write(async ({ manager }) => {
        await rows(
          manager,
          'INSERT INTO shared_keys (name, print, sealed) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
          [name, print, sealed],
        );
        return rows<SharedKeyRow>(manager, 'SELECT name, print, sealed FROM shared_keys WHERE name = ?', [name]);
      });
      if (kept === null) throw unreadable(name);
      return open(kept);
    },
    async keep(name, { print, secret }) {
      const sealed = seal(name, secret);
      await db.write(({ manager }) =>
        rows(
          manager,
          `INSERT INTO shared_keys (name, print, sealed) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET print = excluded.print, sealed = excluded.sealed`,
          [name, print, sealed],
        ),
      );
    },
    instancePrint: async () => (await rowOf(instanceKeyName))?.print ?? null,
    async agreeOnInstance(prints) {
      return db.write(async ({ manager }) => {
        const [known] = await rows<SharedKeyRow>(manager, 'SELECT print FROM shared_keys WHERE name = ?', [
          instanceKeyName,
        ]);
        if (known !== undefined && !prints.includes(known.print)) return false;
        await rows(
          manager,
          `INSERT INTO shared_keys (name, print) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET print = excluded.print`,
          [instanceKeyName, prints[0]],
        );
        return true;
      });
    },
    forget: () =>
      db.write(async ({ manager }) => (await rows(manager, 'DELETE FROM shared_keys RETURNING name', [])).length),
    reencrypt: () =>
      db.write(async ({ manager }) => {
        let changed = 0;
        for (const { name, sealed } of await rows<SharedKeyRow>(
          manager,
          'SELECT name, print, sealed FROM shared_keys WHERE sealed IS NOT NULL',
          [],
        )) {
          const again = reencrypt(instanceKey, random, { use, place: name, text: sealed ?? '' });
          if (again === null) continue;
          await rows(manager, 'UPDATE shared_keys SET sealed = ? WHERE name = ?', [again, name]);
          changed += 1;
        }
        return changed;
      }),
  };
}

const unreadable = (name: string) =>
  conflict(
    'shared_key_unreadable',
    `The instance key cannot open the ${name} key of the database. Put the instance key back that the other servers have; if it is lost, stop all servers and run: hearth key instance --adopt`,
  );
