import { EntitySchema } from 'typeorm';

/** An origin of local actor ids; the newest is the last accepted one. */
interface OriginRow {
  /** `https://git.example.org`. */
  origin: string;
  acceptedAt: number;
}

export const originSchema = new EntitySchema<OriginRow>({
  name: 'federationOrigin',
  tableName: 'federation_origins',
  columns: {
    origin: { type: 'text', primary: true },
    acceptedAt: { name: 'accepted_at', type: 'integer' },
  },
});
