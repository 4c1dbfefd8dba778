"""The wire form, derived from the message types themselves."""

from __future__ import annotations

from typing import Any

import msgspec


class BadBytes(Exception):
    """Bytes from outside that are no message of the expected type: to be dropped, counted and named."""


class Wire:
    """Encoder and decoder for one union of message types, such as a layer's `WIRE`."""

    def __init__(self, messages: Any) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(messages)

    def encode(self, message: Any) -> bytes:
        """The bytes that travel."""
        return self._encoder.encode(message)

    def decode(self, data: bytes | memoryview) -> Any:
        """The message that travelled, or `BadBytes`."""
        try:
            return self._decoder.decode(data)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise BadBytes(str(error)) from error
