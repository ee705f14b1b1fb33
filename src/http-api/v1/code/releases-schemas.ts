import { z } from 'zod';
import { release, releaseFile } from '../../../gitea-shapes/schemas.ts';

export { release, releaseFile };

const optionalText = (max: number) => z.string().max(max).optional();

export const releaseEdit = z.strictObject({
  tag_name: optionalText(200).describe('Of a draft: the tag of a published release stays'),
  tag_message: optionalText(10_000).describe('Makes an annotated tag'),
  target_commitish: optionalText(200).describe('Where a tag is made that is not there; the default branch without it'),
  name: optionalText(255),
  body: optionalText(65_536),
  draft: z.boolean().optional(),
  prerelease: z.boolean().optional(),
  make_latest: z
    .enum(['true', 'false', 'legacy'])
    .optional()
    .describe('As on GitHub: `false` for a fix of an older version, which is never the latest release'),
});

export const newRelease = releaseEdit.extend({ tag_name: z.string().max(200) });

export const releaseFileEdit = z.strictObject({ name: z.string().max(255) });

export const newTag = z.strictObject({
  tag_name: z.string().max(200),
  target: optionalText(200).describe('A branch, a tag or a commit; the default branch without it'),
  message: optionalText(10_000).describe('Makes an annotated tag, which the server signs'),
});

export const generatedNotes = z.strictObject({
  body: z.string(),
  previous: z.string().nullable().describe('The tag that they begin behind'),
});
