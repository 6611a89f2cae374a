import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { afterEach, expect, it } from 'vitest';
import type { DisplayProps } from '../props';
import { AudioDisplay, ImageDisplay, VideoDisplay } from './media';

afterEach(cleanup);

const file = { file_id: 'f1', name: 'scan', size: 3, content_type: 'image/png', url: 'https://store.test/scan' };

function show(Display: ComponentType<DisplayProps>, value: unknown, onPlayed?: () => void) {
  const field = { name: 'media', type: 'image' } as DisplayProps['field'];
  const { container } = render(
    <MantineProvider env="test">
      <Display field={field} value={value} context={{}} files={[file as never]} onPlayed={onPlayed} />
    </MantineProvider>,
  );
  return container;
}

it.each([
  ['image', 'img', ImageDisplay],
  ['recording', 'audio', AudioDisplay],
  ['video', 'video', VideoDisplay],
] as const)('says that a %s cannot be shown when the store does not give it', (what, element, Display) => {
  const shown = show(Display, { file_id: 'f1' }).querySelector(element);
  expect(screen.queryByText(/cannot be/)).toBeNull();
  if (shown) fireEvent.error(shown);
  expect(screen.getByText(new RegExp(`The ${what} cannot be shown here`))).toBeTruthy();
  expect(screen.getByRole('link').getAttribute('href')).toBe(file.url);
});

it('says that a file is not there when nobody has it', () => {
  show(ImageDisplay, { file_id: 'gone' });
  expect(screen.getByText('The image cannot be found.')).toBeTruthy();
});

it('loads nothing from other hosts, and lets what was opened there count as played', () => {
  let played = 0;
  const page = show(VideoDisplay, { url: 'https://elsewhere.test/v.mp4' }, () => played++);
  expect(page.querySelector('video')).toBeNull();
  fireEvent.click(screen.getByRole('link'));
  expect(played).toBe(1);
});
