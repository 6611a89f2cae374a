/**
 * The rules of forms, as the server has them: the twin of the Go package internal/form, run against the same vectors.
 * The server decides; here they tell people early.
 *
 *     const form = new Form(fields);
 *     await loadPatterns(fields);                     // only when a field has one
 *     form.visible(context)                           // name → shown
 *     form.checkSubmission(answers, context)          // {kept} or {problems}
 */
export { checkAnswers, type Hurdles } from './check';
export { holds } from './engine/condition';
export { type Counts, count } from './engine/count';
export { Form, type Submission } from './engine/form';
export { fieldLabel, normalField, optionLabel } from './engine/options';
export { loadPatterns, needsPatterns } from './engine/pattern';
export type { Column, Condition, Field, Input, Option, Problem, Rules, Scale, Values } from './engine/types';
export { empty, equal } from './engine/value';
export { problemText } from './problemText';
