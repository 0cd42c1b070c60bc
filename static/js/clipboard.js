// The clipboard, with what browsers without it have instead.

/** Puts a field's text on the clipboard, also on plain http. */
export async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.select();
    return document.execCommand('copy');
  }
}
