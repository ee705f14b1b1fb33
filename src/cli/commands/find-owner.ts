import type { Modules } from '../../app/index.ts';
import { notFound } from '../../kernel/index.ts';

/** A user or an organisation by its handle. Throws `owner_not_found`. */
export async function findOwner({ owners }: Modules, handle: string) {
  const owner = await owners.resolve(handle);
  if (owner === null) throw notFound('owner_not_found', `No user or organisation is named ${handle}.`);
  return owner;
}
