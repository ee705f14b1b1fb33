import { page, seeOther, type PageReply } from '../answers/reply.ts';
import type { WebRooms } from '../rooms.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import { viewSshKey } from '../views/ssh-key.ts';
import type { Page, PersonVisit } from '../visit.ts';

interface KeyForm {
  title: string;
  key: string;
}

async function keysPage(
  { person, query }: PersonVisit,
  { accounts, clock, config }: WebRooms,
  form: KeyForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const keys = await accounts.listKeys(person.id);
  return page('settings/keys', {
    keys: keys.map((key) => viewSshKey(key, clock.now(), config.ssh.systemSshd)),
    form,
    refusal,
    notice: viewNotice(query),
  });
}

export const showKeys: Page<PersonVisit> = (visit, rooms) => keysPage(visit, rooms, { title: '', key: '' }, null);

/** Fields `title` and `key`, a whole line of a `.pub` file. */
export const addKey: Page<PersonVisit> = (visit, rooms) => {
  const input = { title: visit.form.text('title'), key: visit.form.text('key') };
  return submit(
    async () => {
      await rooms.accounts.addKey(visit.person.id, { title: input.title, line: input.key });
      return seeOther(withNotice('/settings/keys', 'key-added'));
    },
    (refusal) => keysPage(visit, rooms, input, refusal),
  );
};

export const removeKey: Page<PersonVisit> = async ({ person, params }, { accounts }) => {
  await accounts.removeKey(person.id, params.id ?? '');
  return seeOther(withNotice('/settings/keys', 'key-removed'));
};
