import { createAccounts } from '../accounts/index.ts';
import { createOAuth } from '../oauth/index.ts';
import { createOrganisations } from '../organisations/index.ts';
import { createAvatars, createOwners } from '../owners/index.ts';
import { createSigning } from '../signing/index.ts';
import { createSingleSignOn } from '../single-sign-on/index.ts';
import type { Storage } from './open-storage.ts';

/** Accounts and organisations, sign-in and commit signing. */
export function openPeople(storage: Storage) {
  const { config, db, instanceKey, logger } = storage;
  const owners = createOwners({ db });
  const avatars = createAvatars({ db, logger, store: storage.imagesOf('avatars') });
  const accounts = createAccounts({ ...storage, owners, instanceKey: instanceKey('accounts') });
  const organisations = createOrganisations({ ...storage, owners, accounts, avatars });
  const settings = { maxKeysPerPerson: config.keys.maxPerPerson };
  const signing = createSigning({ ...storage, accounts, instanceKey: instanceKey('signing'), settings });
  const singleSignOn = createSingleSignOn({ ...storage, accounts, organisations });
  const oauth = createOAuth({ ...storage, instanceKey: instanceKey('oauth') });
  return { owners, avatars, accounts, organisations, signing, singleSignOn, oauth };
}

export type People = ReturnType<typeof openPeople>;
