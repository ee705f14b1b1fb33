import { page, seeOther, type PageReply } from '../reply.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewAvatar } from '../views/avatar.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import type { Page, PersonVisit } from '../visit.ts';

interface ProfileForm {
  display_name: string;
  bio: string;
  website: string;
}

function profilePage({ person, query }: PersonVisit, form: ProfileForm, refusal: FormRefusal | null): PageReply {
  return page('settings/profile', { form, refusal, avatar: viewAvatar(person.id), notice: viewNotice(query) });
}

export const showProfileSettings: Page<PersonVisit> = (visit) => {
  const { displayName, bio, website } = visit.person;
  return profilePage(visit, { display_name: displayName, bio, website }, null);
};

/** Fields `display_name`, `bio`, `website`. */
export const saveProfile: Page<PersonVisit> = (visit, { accounts }) => {
  const { form, person } = visit;
  const input = { display_name: form.text('display_name'), bio: form.text('bio'), website: form.text('website') };
  return submit(
    async () => {
      await accounts.updateProfile(person.id, { displayName: input.display_name, bio: input.bio, website: input.website });
      return seeOther(withNotice('/settings/profile', 'profile-saved'));
    },
    (refusal) => profilePage(visit, input, refusal),
  );
};
