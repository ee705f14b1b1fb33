import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Owners } from '../owners/index.ts';
import { defaultAccountSettings } from './account-settings.ts';
import type { AccountSettings } from './account-settings.ts';
import { addInvite, checkInvite, listInvites, removeInvite } from './joining/invites.ts';
import { setUp } from './joining/set-up.ts';
import { checkSetupToken, setupToken } from './joining/setup-token.ts';
import { signUp } from './joining/sign-up.ts';
import { addKey } from './keys/add-key.ts';
import { listKeys } from './keys/list-keys.ts';
import { removeKey } from './keys/remove-key.ts';
import { viewerOfKey } from './keys/viewer-of-key.ts';
import { createLastUseRecorder } from './last-use.ts';
import { changePassword } from './passwords/change-password.ts';
import { createPasswordHasher } from './passwords/password-hasher.ts';
import { setPassword } from './passwords/set-password.ts';
import { suggestPassword } from './passwords/suggest-password.ts';
import { addPerson } from './people/add-person.ts';
import { chooseHandle } from './people/choose-handle.ts';
import { deletePerson } from './people/delete-person.ts';
import type { Farewell } from './people/farewell.ts';
import { hasAdministrator, listPeople, peopleById, personById, personByUsername } from './people/find-people.ts';
import { listProfiles } from './people/list-profiles.ts';
import { renamePerson } from './people/rename-person.ts';
import { setAdministrator } from './people/set-administrator.ts';
import { setDisabled } from './people/set-disabled.ts';
import { updateProfile } from './people/update-profile.ts';
import { removeExpired } from './remove-expired.ts';
import type { AccountsRoom } from './room.ts';
import { revokeOtherSessions, revokeSession, signOut } from './sessions/end-sessions.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { signIn } from './sessions/sign-in.ts';
import { createSignInTries } from './sessions/sign-in-tries.ts';
import { startSession } from './sessions/start-session.ts';
import { viewerOfSession } from './sessions/viewer-of-session.ts';
import { addToken } from './tokens/add-token.ts';
import { listTokens } from './tokens/list-tokens.ts';
import { removeToken } from './tokens/remove-token.ts';
import { viewerOfToken } from './tokens/viewer-of-token.ts';

export interface AccountsOptions {
  db: Database;
  owners: Owners;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** What the person who runs the instance decides. */
  config?: Pick<Config, 'sessions' | 'tokens' | 'keys'>;
  /** What else differs from `defaultAccountSettings`: tests hash cheaply. */
  settings?: Partial<AccountSettings>;
}

/**
 * People, and everything that proves who somebody is: passwords, sessions,
 * access tokens, SSH keys, invites, the first administrator. The function behind
 * each name says what it does and what it refuses.
 */
export function createAccounts({ config, settings: changed, ...tools }: AccountsOptions) {
  const { db, clock, logger, random } = tools;
  const settings: AccountSettings = { ...defaultAccountSettings, ...(config && settingsOf(config)), ...changed };
  const room: AccountsRoom = {
    ...tools,
    settings,
    hasher: createPasswordHasher({
      cost: settings.passwordCost,
      atOnce: settings.hashesAtOnce,
      waiting: settings.hashesWaiting,
      random,
    }),
    tries: createSignInTries({ failures: settings.signInFailures, windowSeconds: settings.signInWindowSeconds }),
    lastUse: createLastUseRecorder({ db, clock, logger, intervalMs: settings.lastUseIntervalMs }),
    farewells: [],
  };
  /** Gives the room to a use-case; what remains are the parameters its own page describes. */
  const bind = <Rest extends unknown[], Result>(useCase: (room: AccountsRoom, ...rest: Rest) => Result) =>
    (...rest: Rest): Result => useCase(room, ...rest);

  return {
    addPerson: bind(addPerson),
    personById: bind(personById),
    personByUsername: bind(personByUsername),
    peopleById: bind(peopleById),
    listPeople: bind(listPeople),
    listProfiles: bind(listProfiles),
    hasAdministrator: bind(hasAdministrator),
    chooseHandle: bind(chooseHandle),
    updateProfile: bind(updateProfile),
    renamePerson: bind(renamePerson),
    deletePerson: bind(deletePerson),
    /** Plugs in who must hear that a person is about to go, and may refuse. */
    onFarewell: (farewell: Farewell) => void room.farewells.push(farewell),
    setDisabled: bind(setDisabled),
    setAdministrator: bind(setAdministrator),

    setPassword: bind(setPassword),
    changePassword: bind(changePassword),
    suggestPassword: () => suggestPassword(random),

    signIn: bind(signIn),
    startSession: bind(startSession),
    signOut: bind(signOut),
    viewerOfSession: bind(viewerOfSession),
    listSessions: bind(listSessions),
    revokeSession: bind(revokeSession),
    revokeOtherSessions: bind(revokeOtherSessions),

    addToken: bind(addToken),
    listTokens: bind(listTokens),
    removeToken: bind(removeToken),
    viewerOfToken: bind(viewerOfToken),

    addKey: bind(addKey),
    listKeys: bind(listKeys),
    removeKey: bind(removeKey),
    viewerOfKey: bind(viewerOfKey),

    setupToken: bind(setupToken),
    checkSetupToken: bind(checkSetupToken),
    setUp: bind(setUp),
    addInvite: bind(addInvite),
    listInvites: bind(listInvites),
    removeInvite: bind(removeInvite),
    checkInvite: bind(checkInvite),
    signUp: bind(signUp),

    removeExpired: bind(removeExpired),
    /** Resolves when all "last used" times noted so far are written. */
    settled: () => room.lastUse.settled(),
    /** To be awaited before the database closes: no use of a session, token or key is written afterwards. */
    stop: () => room.lastUse.stop(),
  };
}

function settingsOf({ sessions, tokens, keys }: Pick<Config, 'sessions' | 'tokens' | 'keys'>): Partial<AccountSettings> {
  return {
    sessionIdleMs: sessions.idleMs,
    sessionLifetimeMs: sessions.lifetimeMs,
    maxTokensPerPerson: tokens.maxPerPerson,
    maxKeysPerPerson: keys.maxPerPerson,
  };
}

export type Accounts = ReturnType<typeof createAccounts>;
