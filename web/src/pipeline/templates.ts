import type { Definition } from './definition';

/** A pipeline to start from. */
export interface Template {
  id: string;
  title: string;
  /** What it is good for. */
  about: string;
  make: (name: string) => Definition;
}

const start = { key: 'start', kind: 'start' } as const;
const end = { key: 'end', kind: 'end' } as const;

export const templates: Template[] = [
  {
    id: 'blank',
    title: 'Blank',
    about: 'One step with one question. Add what you need.',
    make: (name) => ({
      name,
      nodes: [
        start,
        {
          key: 'work',
          kind: 'subtask',
          title: 'Do the work',
          fields: [{ name: 'answer', title: 'Answer', type: 'long_text', input: 'contributor', required: true }],
        },
        end,
      ],
      edges: [
        { from: 'start', to: 'work' },
        { from: 'work', to: 'end' },
      ],
    }),
  },
  {
    id: 'question_review',
    title: 'Question and review',
    about: 'Somebody answers a question, somebody else checks the answer and sends it back when it is wrong.',
    make: (name) => ({
      name,
      nodes: [
        start,
        {
          key: 'solve',
          kind: 'subtask',
          title: 'Answer the question',
          instructions: 'Read the question, work it out, and give a short final answer.\n\nShow your steps below it.',
          fields: [
            { name: 'question', title: 'Question', type: 'long_text', input: 'seeded', required: true },
            {
              name: 'answer',
              title: 'Final answer',
              type: 'short_text',
              input: 'contributor',
              required: true,
              rules: { max_chars: 200 },
            },
            {
              name: 'steps',
              title: 'How did you get there?',
              type: 'long_text',
              input: 'contributor',
              rules: { max_words: 500 },
            },
            { name: 'sure', title: 'I am sure of it', type: 'boolean', input: 'contributor', style: 'yes_no' },
            {
              name: 'doubt',
              title: 'What is unclear?',
              type: 'long_text',
              input: 'contributor',
              required: true,
              rules: { min_words: 3 },
              visible_when: { field: 'sure', op: 'eq', value: false },
            },
          ],
        },
        {
          key: 'check',
          kind: 'review',
          title: 'Check the answer',
          reviews: [{ node: 'solve', fields: ['answer', 'steps'] }],
          max_rework: 3,
          four_eyes: true,
        },
        end,
      ],
      edges: [
        { from: 'start', to: 'solve' },
        { from: 'solve', to: 'check' },
        { from: 'check', to: 'end' },
      ],
    }),
  },
  {
    id: 'rlhf_pairwise',
    title: 'RLHF pairwise',
    about: 'Compare two answers of a model to the same prompt, say which is better, how much and why.',
    make: (name) => ({
      name,
      nodes: [
        start,
        {
          key: 'compare',
          kind: 'subtask',
          title: 'Compare the two answers',
          instructions:
            'Read the prompt and both answers. Judge what they say, not how long they are.\n\n' +
            '- **Helpful**: does it do what was asked?\n- **Honest**: is it right, and does it say what it does not know?',
          fields: [
            { name: 'prompt', title: 'Prompt', type: 'rich_text', input: 'seeded', required: true },
            { name: 'answer_a', title: 'Answer A', type: 'rich_text', input: 'seeded', required: true, width: 6 },
            { name: 'answer_b', title: 'Answer B', type: 'rich_text', input: 'seeded', required: true, width: 6 },
            {
              name: 'preference',
              title: 'Which answer is better?',
              type: 'pairwise',
              input: 'contributor',
              required: true,
              sources: ['answer_a', 'answer_b'],
              scale: { min: 1, max: 3, labels: ['slightly', 'clearly', 'much'] },
            },
            {
              name: 'quality',
              title: 'How good is the better one?',
              type: 'rating',
              input: 'contributor',
              required: true,
              scale: { min: 1, max: 5, labels: ['bad', 'excellent'] },
              visible_when: { field: 'preference.choice', op: 'in', value: ['a', 'b'] },
            },
            {
              name: 'reason',
              title: 'Why?',
              type: 'long_text',
              input: 'contributor',
              required: true,
              rules: { min_words: 5, max_chars: 2000 },
            },
          ],
        },
        {
          key: 'audit',
          kind: 'review',
          title: 'Audit the judgement',
          reviews: [{ node: 'compare', fields: ['preference', 'reason'] }],
          max_rework: 2,
          four_eyes: true,
        },
        end,
      ],
      edges: [
        { from: 'start', to: 'compare' },
        { from: 'compare', to: 'audit' },
        { from: 'audit', to: 'end' },
      ],
    }),
  },
  {
    id: 'document_upload',
    title: 'Document with file upload',
    about:
      'Read a PDF, take out what it says into a table, attach a corrected copy. Poor scans take a way of their own.',
    make: (name) => ({
      name,
      nodes: [
        start,
        {
          key: 'read',
          kind: 'subtask',
          title: 'Read the document',
          instructions: 'Read the document to its end, then list every amount in it.',
          lease: '1h',
          fields: [
            {
              name: 'document',
              title: 'Document',
              type: 'pdf',
              input: 'seeded',
              required: true,
              width: 7,
              rules: { played_fully: true },
            },
            {
              name: 'legible',
              title: 'Can it be read?',
              type: 'select',
              input: 'contributor',
              required: true,
              width: 5,
              style: 'buttons',
              options: [
                { value: 'yes', label: 'Yes', hotkey: '1' },
                { value: 'no', label: 'No, it is a poor scan', hotkey: '2' },
              ],
            },
            {
              name: 'amounts',
              title: 'Amounts',
              type: 'table',
              input: 'contributor',
              required: true,
              columns: [
                { name: 'what', title: 'What for', type: 'short_text', required: true },
                { name: 'amount', title: 'Amount', type: 'number', required: true, rules: { min: 0, decimals: 2 } },
                { name: 'due', title: 'Due', type: 'date' },
              ],
              rules: { min_items: 1 },
              visible_when: { field: 'legible', op: 'eq', value: 'yes' },
            },
          ],
        },
        {
          key: 'rescan',
          kind: 'subtask',
          title: 'Scan it again',
          instructions: 'Scan the paper again at 300 dpi and upload the file.',
          sla: '48h',
          fields: [
            {
              name: 'scan',
              title: 'The new scan',
              type: 'file_upload',
              input: 'contributor',
              required: true,
              accept: ['.pdf', 'image/*'],
              rules: { max_bytes: 50_000_000 },
            },
          ],
        },
        {
          key: 'verify',
          kind: 'review',
          title: 'Verify the amounts',
          reviews: [{ node: 'read', fields: ['amounts'] }],
          max_rework: 2,
          four_eyes: true,
        },
        end,
      ],
      edges: [
        { from: 'start', to: 'read' },
        { from: 'read', to: 'verify', when: { field: 'legible', op: 'eq', value: 'yes' } },
        { from: 'read', to: 'rescan', when: { field: 'legible', op: 'ne', value: 'yes' } },
        { from: 'rescan', to: 'end' },
        { from: 'verify', to: 'end' },
      ],
    }),
  },
];
