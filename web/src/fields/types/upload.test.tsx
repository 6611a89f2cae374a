import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import type { InputProps } from '../props';
import { pendingUploads } from '../upload/pending';
import { type FileValue, UploaderProvider } from '../upload/uploader';
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
