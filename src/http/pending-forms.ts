import type { Random } from '../kernel/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';

/** A form that waits while the user confirms their identity at a provider. */
interface PendingForm {
  /** The URL to which it was sent, with its query. */
  action: string;
  fields: readonly (readonly [name: string, value: string])[];
}

/**
 * Forms sent before the user was asked to confirm their identity, so that the way to a provider and back loses no
 * input. One per session; a lost form has to be typed again.
 */
export interface PendingForms {
  /**
   * Stores a form for ten minutes, replacing an earlier one. @returns the token for the URL; null if the form is too
   * large
   */
  store(sessionId: string, form: PendingForm): Promise<string | null>;
  /** The form of this session; null if the token was replaced, has expired or belongs to another session. */
  find(sessionId: string, token: string): Promise<PendingForm | null>;
}

interface Deps {
  random: Random;
  openKeptValues: OpenKeptValues;
}

const ttlMs = 10 * 60_000;
const maxFormCharacters = 256 * 1024;
const most = { values: 10_000, characters: 16 * 1024 * 1024 };
const tokenBytes = 16;

export function createPendingForms({ random, openKeptValues }: Deps): PendingForms {
  const forms = openKeptValues({ kind: 'form', ttlMs, most });
  return {
    async store(sessionId, form) {
      const size = form.fields.reduce((sum, [name, value]) => sum + name.length + value.length, form.action.length);
      if (size > maxFormCharacters) return null;
      const token = random.bytes(tokenBytes).toString('base64url');
      await forms.keep(sessionId, JSON.stringify({ token, form }));
      return token;
    },
    async find(sessionId, token) {
      const found = await forms.find(sessionId);
      if (found === null) return null;
      const kept = JSON.parse(found) as { token: string; form: PendingForm };
      return kept.token === token ? kept.form : null;
    },
  };
}
