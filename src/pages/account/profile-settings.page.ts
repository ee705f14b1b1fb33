import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

interface ProfileForm {
  display_name: string;
  bio: string;
  website: string;
}

function profilePage(
  { person, avatarAt, query }: PersonContext,
  form: ProfileForm,
  refusal: FormRefusal | null,
): PageReply {
  return page('account/profile-settings', {
    form,
    refusal,
    avatar: viewAvatar(person.id, avatarAt),
    hasAvatar: avatarAt !== null,
    notice: viewFlashMessage(query),
  });
}

const formOf = ({ person: { displayName, bio, website } }: PersonContext): ProfileForm => ({
  display_name: displayName,
  bio,
  website,
});

export const showProfileSettings: Page<PersonContext, AccountDeps> = (context) =>
  profilePage(context, formOf(context), null);

/** Fields `display_name`, `bio`, `website`. */
export const saveProfile: Page<PersonContext, AccountDeps> = (context, { accounts }) => {
  const { form, person } = context;
  const input = { display_name: form.text('display_name'), bio: form.text('bio'), website: form.text('website') };
  return submitForm(
    async () => {
      await accounts.updateProfile(person.id, {
        displayName: input.display_name,
        bio: input.bio,
        website: input.website,
      });
      return seeOther(withFlashMessage('/settings/profile', 'profile-saved'));
    },
    (refusal) => profilePage(context, input, refusal),
  );
};

/** Field `avatar`, the file: the user's own picture. */
export const uploadAvatar: Page<PersonContext, AccountDeps> = (context, { avatars }) =>
  submitForm(
    async () => {
      await avatars.replace(context.person.id, context.takeUpload());
      return seeOther(withFlashMessage('/settings/profile', 'avatar-saved'));
    },
    (refusal) => profilePage(context, formOf(context), refusal),
  );

export const deleteAvatar: Page<PersonContext, AccountDeps> = async ({ person }, { avatars }) => {
  await avatars.remove(person.id);
  return seeOther(withFlashMessage('/settings/profile', 'avatar-removed'));
};
