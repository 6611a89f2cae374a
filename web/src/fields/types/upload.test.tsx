import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import type { InputProps } from '../props';
import { pendingUploads } from '../upload/pending';
import { type FileValue, type Uploader, UploaderProvider } from '../upload/uploader';
import { UploadDisplay, UploadInput } from './upload';

afterEach(() => {
  cleanup();
  pendingUploads.clear();
});

const field = { name: 'proof', type: 'file_upload', input: 'contributor', multiple: true } as InputProps['field'];

test('a picture is fetched once, whatever address it has by now, and again when that fails', () => {
  const shown = (url: string) => (
    <MantineProvider env="test">
      <UploadDisplay
        field={field}
        value={{ file_id: 'f1', name: 'scan', size: 3 }}
        context={{}}
        files={[{ file_id: 'f1', name: 'scan', size: 3, content_type: 'image/png', url } as never]}
      />
    </MantineProvider>
  );
  const { rerender } = render(shown('https://store.test/scan?at=1'));
  const img = () => screen.getByAltText('scan').getAttribute('src');
  rerender(shown('https://store.test/scan?at=2'));
  expect(img()).toBe('https://store.test/scan?at=1');
  fireEvent.error(screen.getByAltText('scan'));
  expect(img()).toBe('https://store.test/scan?at=2');
  rerender(shown('https://store.test/scan?at=3'));
  expect(img()).toBe('https://store.test/scan?at=2');
  rerender(shown('https://store.test/scan?at=2'));
  fireEvent.error(screen.getByAltText('scan'));
  expect(img()).toBe('https://store.test/scan?at=2');
  rerender(shown('https://store.test/scan?at=4'));
  expect(img()).toBe('https://store.test/scan?at=4');
});

test('files that arrive after their field was hidden are all there', async () => {
  const arrive: ((value: FileValue) => void)[] = [];
  const uploader = () => new Promise<FileValue>((resolve) => arrive.push(resolve));
  const onChange = vi.fn();
  const input = { field, value: undefined, onChange, context: {} } as unknown as InputProps;
  const { unmount } = render(
    <MantineProvider env="test">
      <UploaderProvider value={uploader}>
        <UploadInput {...input} />
      </UploaderProvider>
    </MantineProvider>,
  );
  const files = ['a.txt', 'b.txt'].map((name) => new File(['x'], name));
  await userEvent.upload(screen.getByLabelText('proof'), files);
  unmount();
  const values = files.map(({ name }, i) => ({ file_id: `f${i}`, name, size: 1 }));
  for (const [i, value] of values.entries()) arrive[i]?.(value);
  await vi.waitFor(() => expect(pendingUploads.get()).toEqual([]));
  expect(onChange).toHaveBeenLastCalledWith(values);
});

/** A form with the field, as its condition shows or hides it. */
function Form({ uploader, shown }: { uploader: Uploader; shown: boolean }) {
  const [value, setValue] = useState<unknown>();
  const input = { field, value, onChange: setValue, context: {} } as unknown as InputProps;
  return (
    <MantineProvider env="test">
      <UploaderProvider value={uploader}>{shown && <UploadInput {...input} />}</UploaderProvider>
    </MantineProvider>
  );
}

test('a file that began before its field was hidden and shown again is added to what is there by then', async () => {
  const arrive = new Map<string, (value: FileValue) => void>();
  const uploader: Uploader = ({ file }) => new Promise((resolve) => arrive.set(file.name, resolve));
  const choose = (...names: string[]) => {
    const files = names.map((name) => new File(['x'], name));
    return userEvent.upload(screen.getByLabelText('proof'), files);
  };
  const there = async (name: string) => {
    arrive.get(name)?.({ file_id: name, name, size: 1 });
    await screen.findByRole('button', { name: `Remove ${name}` });
  };
  const { rerender } = render(<Form uploader={uploader} shown />);
  await choose('a.zip');
  rerender(<Form uploader={uploader} shown={false} />);
  rerender(<Form uploader={uploader} shown />);
  await choose('b.png', 'c.png');
  await there('b.png');
  await there('c.png');
  await userEvent.click(screen.getByRole('button', { name: 'Remove c.png' }));
  await there('a.zip');
  const rows = screen.getAllByRole('button', { name: /^Remove / }).map((button) => button.getAttribute('aria-label'));
  expect(rows).toEqual(['Remove b.png', 'Remove a.zip']);
});
