import type { Field } from '../types';
import { chatKind } from './chat';
import { booleanKind, multiSelectKind, selectKind } from './choice';
import { dateKind } from './date';
import type { Kind } from './kind';
import { listKind } from './list';
import { numberKind } from './number';
import { pairwiseKind } from './pairwise';
import { rankingKind } from './ranking';
import { likertKind, ratingKind } from './rating';
import { spansKind } from './spans';
import { tableKind } from './table';
import { textKind } from './text';
import { uploadKind } from './upload';
import { urlKind } from './url';

const jsonKind: Kind = { check() {} };
/** Nobody submits what only shows something; the server checks it when it is given. */
const shownKind: Kind = { check() {} };
const unknownKind: Kind = { check: (_, at) => at.fail('is of a type that does not exist') };

const kinds: Record<string, (f: Field) => Kind> = {
  short_text: textKind,
  long_text: textKind,
  rich_text: textKind,
  code: textKind,
  select: selectKind,
  multi_select: multiSelectKind,
  boolean: booleanKind,
  number: numberKind,
  integer: numberKind,
  rating: ratingKind,
  likert: likertKind,
  pairwise: pairwiseKind,
  ranking: rankingKind,
  date: dateKind,
  datetime: dateKind,
  url: urlKind,
  json: () => jsonKind,
  table: (f) => tableKind(f, newKind),
  list: (f) => listKind(f, newKind),
  chat: chatKind,
  text_spans: spansKind,
  file_upload: uploadKind,
  image: () => shownKind,
  audio: () => shownKind,
  video: () => shownKind,
  pdf: () => shownKind,
  static_content: () => shownKind,
};

/** Compiles the rules of a field; one of an unknown type refuses every value. */
export function newKind(f: Field): Kind {
  return Object.hasOwn(kinds, f.type) ? (kinds[f.type]?.(f) ?? unknownKind) : unknownKind;
}
