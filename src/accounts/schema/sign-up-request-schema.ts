import { EntitySchema } from 'typeorm';

/** A row of `sign_up_requests`: a pending request for an account. */
export interface SignUpRequest {
  id: string;
  /** Not verified: the invitation is sent there. */
  address: string;
  addressKey: string;
  /** The applicant's text about themselves; may be empty. */
  reason: string;
  createdAt: number;
}

export const signUpRequestSchema = new EntitySchema<SignUpRequest>({
  name: 'SignUpRequest',
  tableName: 'sign_up_requests',
  columns: {
    id: { type: 'text', primary: true },
    address: { type: 'text' },
    addressKey: { name: 'address_key', type: 'text' },
    reason: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
