import { In } from 'typeorm';
import type { Person } from '../../accounts/index.ts';
import { loginOf } from '../context/people-book.ts';
import type { ImportDeps } from '../deps.ts';
import { importPersonSchema } from '../schema/import-schema.ts';
import type { SourcePerson } from '../sources/source.ts';

const atOnce = 500;

/**
 * The accounts here of users of another forge, by their logins there: those that a claim names, or whose verified
 * address here equals the one that the source vouches for. An equal name proves nothing.
 */
export async function accountsOf(
  { db, accounts }: Pick<ImportDeps, 'db' | 'accounts'>,
  host: string,
  people: readonly SourcePerson[],
): Promise<Map<string, Person>> {
  const ids = new Map<string, string>();
  const addresses = new Map<string, string>();
  for (let at = 0; at < people.length; at += atOnce) {
    const some = people.slice(at, at + atOnce);
    const logins = In([...new Set(some.map(({ login }) => loginOf(login)))]);
    const known = new Map(
      (await db.read.findBy(importPersonSchema, { host, login: logins })).map((row) => [row.login, row]),
    );
    for (const { login, email } of some) {
      const row = known.get(loginOf(login));
      const address = email || row?.email || '';
      if (row?.userId != null) ids.set(login, row.userId);
      else if (address !== '') addresses.set(login, address.toLowerCase());
    }
  }
  const byAddress = await accounts.addresses.peopleByAddress(new Set(addresses.values()));
  const byId = await accounts.peopleById(new Set(ids.values()));
  const found = [
    ...[...ids].map(([login, id]) => [login, byId.get(id)] as const),
    ...[...addresses].map(([login, address]) => [login, byAddress.get(address)] as const),
  ];
  return new Map(
    found.flatMap(([login, person]) =>
      person === undefined || person.disabledAt !== null || person.username === null ? [] : [[login, person] as const],
    ),
  );
}
