import { createHash } from 'node:crypto';
import { localAdministrator } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import type { SourceClient } from '../client/source-client.ts';
import type { ImportDeps } from '../deps.ts';
import { bringPicture } from '../files/fetch-picture.ts';
import { accountsOf } from '../people/accounts-of.ts';
import { importPersonSchema } from '../schema/import-schema.ts';
import type { GroupOwnerRow, ImportGroupRow } from '../schema/group-schema.ts';
import { listKeys } from '../sources/list-keys.ts';
import type { ListedOwner } from '../sources/list-repositories.ts';
import { bringMembers } from './bring-members.ts';
import { openOwnerNotes } from './group-notes.ts';
import type { OwnerNotes } from './group-notes.ts';

/**
 * Brings what an owner has beside its repositories, which are all begun by now: its picture, the members and teams of
 * an organisation, the public keys of a user. Changes made here stay, and what was taken away here does not come again.
 */
export async function bringOwner(
  deps: ImportDeps,
  group: ImportGroupRow,
  row: GroupOwnerRow,
  { client, viewer, ownerId }: { client: SourceClient; viewer: PersonViewer; ownerId: string },
): Promise<void> {
  const isServer = group.account === '';
  const notes = openOwnerNotes(deps, row);
  const listed = JSON.parse(row.details) as ListedOwner;
  const here = (await deps.owners.ownersById([ownerId])).get(ownerId);
  if (here?.kind === 'organisation' && row.kind === 'organisation') {
    const isOwner = isServer || viewer === localAdministrator || (await isOwnerOf(deps, viewer, ownerId));
    if (isOwner) {
      await bringOwnerPicture(deps, client, { ownerId, listed }, notes);
      await bringMembers(deps, group, { row, organisation: here.handle, client }, notes);
    } else notes.tell(`The picture, members and teams did not come: only an owner of ${here.handle} brings them.`);
  }
  if (here?.kind === 'user' && row.kind === 'user') {
    const isKnown = row.isMade || (await isSame(deps, group, listed, ownerId));
    if (isKnown) await bringOwnerPicture(deps, client, { ownerId, listed }, notes);
    if (isServer) await bringKeys(deps, group, row, { client, listed, ownerId }, notes);
  }
  await notes.end();
}

const isOwnerOf = async (
  { organisations }: ImportDeps,
  viewer: PersonViewer,
  organisationId: string,
): Promise<boolean> => (await organisations.roleOf(viewer.id, organisationId)) === 'OWNER';

/** Whether a user there is the account here, by proof. */
async function isSame(
  deps: ImportDeps,
  { host }: ImportGroupRow,
  { login, id, name, email, url }: ListedOwner,
  ownerId: string,
): Promise<boolean> {
  const person = { login, id, name, email, url };
  return (await accountsOf(deps, host, [person])).get(login)?.id === ownerId;
}

async function bringOwnerPicture(
  { avatars }: ImportDeps,
  client: SourceClient,
  { ownerId, listed: { pictures } }: { ownerId: string; listed: ListedOwner },
  notes: OwnerNotes,
): Promise<void> {
  if (pictures === undefined) return;
  const item = `picture:${ownerId}`;
  const known = (await notes.markOf(item)) ?? null;
  const { digest, problem } = await bringPicture(
    {
      open: () => avatars.open(ownerId),
      replace: (upload) => avatars.replace(ownerId, upload),
      remove: () => avatars.remove(ownerId),
    },
    known,
    pictures.length === 0 ? null : () => client.openFile(pictures),
  );
  // One that was here before the import is no conflict.
  if (problem !== null && !(known === null && digest !== '')) notes.tell(`The picture ${problem}`);
  if (digest !== known) await notes.mark(item, digest);
}

/**
 * SSH and OpenPGP keys of a user, whose account an administrator's mapping names, or which this import has made and
 * no administrator has enabled yet: a key signs in, so an address alone is not enough.
 */
async function bringKeys(
  deps: ImportDeps,
  group: ImportGroupRow,
  row: GroupOwnerRow,
  { client, listed, ownerId }: { client: SourceClient; listed: ListedOwner; ownerId: string },
  notes: OwnerNotes,
): Promise<void> {
  const { host } = group;
  const isMapped = (await deps.db.read.findOneBy(importPersonSchema, { host, login: row.login }))?.userId === ownerId;
  const isWaiting = row.isMade && (await deps.accounts.personById(ownerId)).disabledAt !== null;
  if (!isMapped && !isWaiting) return;
  const { ssh, gpg } = await listKeys(client, group, listed, (what, problem) => notes.tell(`${what} ${problem}`));
  const own = new Set((await deps.accounts.listKeys(ownerId)).map(({ line }) => line.split(' ')[1]));
  for (const { id, title, line } of ssh)
    await notes.once(`ssh:${row.login}:${id}:${line}`, `The SSH key ${title.slice(0, 100)} did not come`, async () => {
      if (!own.has(line.trim().split(/\s+/)[1]))
        await deps.accounts.addKey(ownerId, { title: title.slice(0, 100), line });
    });
  for (const [at, armored] of gpg.entries()) {
    const digest = createHash('sha256').update(armored).digest('hex');
    await notes.once(`gpg:${row.login}:${digest}`, `OpenPGP key ${at + 1} did not come`, () =>
      deps.signing.addGpgKey(ownerId, armored),
    );
  }
}
