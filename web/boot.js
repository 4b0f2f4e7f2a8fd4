// Loaded first and by itself: a page whose script or style did not arrive (the network changed, the server was just starting)
// would stand still for ever, so it is loaded once more.
window.addEventListener('error', event => {
  if (/^(SCRIPT|LINK)$/.test(event.target.tagName)) setTimeout(() => location.reload(), 1000);
}, true);
