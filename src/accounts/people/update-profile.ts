import { parseText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { userSchema } from '../schema/user-schema.ts';
import { noSuchPerson } from './find-people.ts';
import { bioRule, displayNameRule, parseLanguage, parseWebsite } from './profile-rules.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';

/** Profile fields; omitted fields stay unchanged. */
interface Profile {
  displayName?: string;
  bio?: string;
  website?: string;
  /** Language code, or null for the browser's. */
  language?: string | null;
}

/**
 * Changes a user's profile. Throws `invalid_text`, `text_too_long`, `invalid_website`, `unknown_language`, each with
 * its form field; `unknown_person`.
 */
export async function updateProfile({ db }: AccountsDeps, personId: string, profile: Profile): Promise<Person> {
  const changes: Profile = {};
  if (profile.displayName !== undefined) changes.displayName = parseText(profile.displayName, displayNameRule);
  if (profile.bio !== undefined) changes.bio = parseText(profile.bio, bioRule);
  if (profile.language !== undefined) changes.language = parseLanguage(profile.language);
  if (profile.website !== undefined) changes.website = parseWebsite(profile.website);

  return db.write(async ({ manager }) => {
    const row = await manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (Object.keys(changes).length > 0) await manager.update(userSchema, { id: personId }, changes);
    return toPerson({ ...row, ...changes });
  });
}
