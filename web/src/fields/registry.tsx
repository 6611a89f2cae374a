import { Skeleton, Text } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useId } from 'react';
import { chunk } from '@/lib/chunk';
import { Fallback } from '@/ui/Fallback';
import { fieldLabel, normalField } from './engine/options';
import { empty } from './engine/value';
import type { DisplayProps, InputProps } from './props';
import { BooleanDisplay, BooleanInput } from './types/boolean';
import { ChatDisplay, ChatInput } from './types/chat';
import { CodeDisplay, CodeInput, JSONDisplay, JSONInput } from './types/code';
import { DateDisplay, DateInput, DatetimeDisplay, DatetimeInput } from './types/date';
import { LikertDisplay, LikertInput } from './types/likert';
import { ListDisplay, ListInput } from './types/list';
import { AudioDisplay, ImageDisplay, PDFDisplay, VideoDisplay } from './types/media';
import { NumberDisplay, NumberInput } from './types/number';
import { PairwiseDisplay, PairwiseInput } from './types/pairwise';
import { RichTextDisplay, RichTextInput } from './types/RichText';
import { RankingDisplay } from './types/ranking';
import { RatingDisplay, RatingInput } from './types/rating';
import { StaticContent } from './types/StaticContent';
import { MultiSelectInput, SelectDisplay, SelectInput } from './types/select';
import { SpansDisplay, SpansInput } from './types/spans';
import { TableDisplay, TableInput } from './types/table';
import { LongTextInput, ShortTextInput, TextDisplay, URLDisplay, URLInput } from './types/text';
import { Unanswered } from './types/Unanswered';
import { UploadDisplay, UploadInput } from './types/upload';
import { unparsedText } from './unparsed';

/** How one field type is filled and shown. */
export interface FieldKind {
  /** Absent for what only shows something. */
  Input?: ComponentType<InputProps>;
  Display: ComponentType<DisplayProps>;
  /** The Input is a group of controls: its label names the group instead of one of them. */
  group?: boolean;
  /** Digits and option keys can answer it. */
  keyed?: boolean;
  /** Has no control of its own to take an answer back. */
  clearable?: boolean;
  /** Blank values are answers, too. */
  blank?: boolean;
}

const RankingInput = lazy(chunk(() => import('./types/RankingInput')));
const radios = { group: true, keyed: true, clearable: true };

const registry: Record<string, FieldKind> = {
  short_text: { Input: ShortTextInput, Display: TextDisplay },
  long_text: { Input: LongTextInput, Display: TextDisplay },
  rich_text: { Input: RichTextInput, Display: RichTextDisplay },
  code: { Input: CodeInput, Display: CodeDisplay, group: true },
  select: { Input: SelectInput, Display: SelectDisplay, ...radios },
  multi_select: { Input: MultiSelectInput, Display: SelectDisplay, group: true, keyed: true },
  boolean: { Input: BooleanInput, Display: BooleanDisplay, ...radios },
  number: { Input: NumberInput, Display: NumberDisplay },
  integer: { Input: NumberInput, Display: NumberDisplay },
  rating: { Input: RatingInput, Display: RatingDisplay, ...radios },
  likert: { Input: LikertInput, Display: LikertDisplay, ...radios },
  pairwise: { Input: PairwiseInput, Display: PairwiseDisplay, ...radios },
  ranking: { Input: RankingInput, Display: RankingDisplay, group: true, clearable: true },
  date: { Input: DateInput, Display: DateDisplay },
  datetime: { Input: DatetimeInput, Display: DatetimeDisplay },
  url: { Input: URLInput, Display: URLDisplay },
  json: { Input: JSONInput, Display: JSONDisplay, group: true, blank: true },
  table: { Input: TableInput, Display: TableDisplay, group: true },
  list: { Input: ListInput, Display: ListDisplay, group: true },
  chat: { Input: ChatInput, Display: ChatDisplay, group: true },
  text_spans: { Input: SpansInput, Display: SpansDisplay, group: true, keyed: true },
  file_upload: { Input: UploadInput, Display: UploadDisplay, group: true },
  image: { Display: ImageDisplay },
  audio: { Display: AudioDisplay },
  video: { Display: VideoDisplay },
  pdf: { Display: PDFDisplay },
  static_content: { Display: StaticContent },
};

/** The kind of a type; unknown ones, of a newer server, are shown as JSON. */
export function fieldKind(type: string): FieldKind | undefined {
  return Object.hasOwn(registry, type) ? registry[type] : undefined;
}

type Given<P> = Omit<P, 'id'> & { id?: string };

/**
 * The control of a contributor's field. With an id, a visible label for it (`<label htmlFor>`, or an element with the id
 * `<id>-label` for groups) names it; without, it names itself by the field's title.
 */
export function FieldInput(props: Given<InputProps> & { error?: string }) {
  const made = useId();
  const { error, ...rest } = props;
  const kind = fieldKind(props.field.type);
  if (!kind?.Input) return <Text c="dimmed">A field of type {props.field.type} cannot be filled here.</Text>;
  const problems = rest.problems ?? (error ? [{ field: rest.field.name, message: error }] : undefined);
  const label = props.label ?? (props.id ? undefined : fieldLabel(props.field));
  return (
    <Fallback show={<Text c="dimmed">This cannot be shown now. Reload the page when you are online again.</Text>}>
      <Suspense fallback={<Skeleton h={36} />}>
        <kind.Input
          {...rest}
          problems={problems}
          field={normalField(props.field)}
          id={props.id ?? made}
          label={label}
        />
      </Suspense>
    </Fallback>
  );
}

/** The value of a field, whatever its input, without its label. */
export function FieldDisplay(props: DisplayProps) {
  const kind = fieldKind(props.field.type);
  const value = unparsedText(props.value) ?? props.value;
  if (kind?.blank ? value === undefined || value === null : empty(value)) return <Unanswered field={props.field} />;
  if (!kind) return <Text style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(value)}</Text>;
  return <kind.Display {...props} value={value} field={normalField(props.field)} />;
}
